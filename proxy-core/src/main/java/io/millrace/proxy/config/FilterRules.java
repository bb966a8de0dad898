package io.millrace.proxy.config;

import io.millrace.proxy.config.access.FilterConfig;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The access filters for all requests and for each remap rule, in the order of the file. Immutable.
 *
 * @param general filters for requests about which no filter of the matching remap rule decides
 * @param byRule filters of each remap rule; an empty list if the rule has none
 * @param byForwardedFor whether the filters use the client address that a trusted proxy has forwarded
 */
public record FilterRules(List<FilterConfig> general, List<List<FilterConfig>> byRule, boolean byForwardedFor) {
    static FilterRules from(ConfigValues values) {
        Map<String, ConfigValues> named = FilterConfig.named(values);
        List<List<FilterConfig>> byRule = new ArrayList<>();
        for (ConfigValues rule : values.elements(ConfigKeys.REMAP)) {
            byRule.add(used(rule, FilterKeys.RULE_FILTERS, "remap[" + byRule.size() + "].filters", named));
        }
        return new FilterRules(
                used(values, FilterKeys.ACCESS_FILTERS, "access.filters", named),
                List.copyOf(byRule),
                values.get(FilterKeys.BY_X_FORWARDED_FOR));
    }

    private static List<FilterConfig> used(
            ConfigValues values, ConfigKey<List<ConfigValues>> key, String path, Map<String, ConfigValues> named) {
        List<FilterConfig> used = new ArrayList<>();
        for (ConfigValues element : values.elements(key)) {
            used.add(FilterConfig.of(element, path + "[" + used.size() + "]", named));
        }
        return List.copyOf(used);
    }
}
