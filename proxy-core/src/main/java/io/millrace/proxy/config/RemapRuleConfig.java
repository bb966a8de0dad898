package io.millrace.proxy.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One {@code map} rule, with the settings that hold for the requests it matches. Immutable.
 *
 * @param index place in the file, from 0
 * @param map what it matches; a null host matches every host
 * @param to the origin; host and scheme are never null
 * @param pristineHostHdr whether the origin gets the client's Host field
 * @param methods the methods that pass; empty for all but TRACE and CONNECT
 * @param purgeAllow whose PURGE requests are obeyed
 * @param cache the cache settings of this rule: its own over the general ones
 * @param location where it stands, as {@code millrace.yaml:12:5}; null when it comes from code
 */
public record RemapRuleConfig(
        int index,
        RuleUrl map,
        RuleUrl to,
        boolean pristineHostHdr,
        List<String> methods,
        List<AddressRange> purgeAllow,
        CacheConfig cache,
        @Nullable String location) {
    static RemapRuleConfig from(int index, ConfigValues element, ConfigValues general) {
        ConfigValues effective = element.over(general);
        return new RemapRuleConfig(
                index,
                element.get(ConfigKeys.REMAP_MAP),
                element.get(ConfigKeys.REMAP_TO),
                effective.get(ConfigKeys.PRISTINE_HOST_HDR),
                AccessConfig.list(effective, ConfigKeys.METHODS),
                purgers(effective),
                CacheConfig.from(effective),
                element.origin());
    }

    private static List<AddressRange> purgers(ConfigValues effective) {
        try {
            return AccessConfig.purgers(effective);
        } catch (InvalidValueException e) {
            throw new IllegalArgumentException("purge.allow: " + e.problem(), e);
        }
    }

    /** For people: {@code map http://cdn.example.com/js/ http://js.example.com/}. */
    @Override
    public String toString() {
        return "map " + map + " " + to;
    }
}
