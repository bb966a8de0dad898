package io.millrace.proxy.config;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One setting that differs between two configurations, and what it takes to apply it. Immutable.
 *
 * @param key path in the catalogue; a list is one setting, whichever of its elements changed
 * @param apply live, rolling or relaunch
 * @param before the old value as it would be written; null when there was none
 * @param after the new value as it would be written; null when there is none
 */
public record ConfigChange(
        String key,
        ConfigKey.Apply apply,
        @Nullable String before,
        @Nullable String after) {
    /** Every setting whose value differs, in the order of the catalogue; setting a default is no change. */
    public static List<ConfigChange> between(ProxyConfig before, ProxyConfig after) {
        List<ConfigChange> changes = new ArrayList<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.path().indexOf('[') < 0 && !Objects.equals(value(before, key), value(after, key))) {
                changes.add(new ConfigChange(
                        key.path(),
                        key.apply(),
                        before.values().text(key),
                        after.values().text(key)));
            }
        }
        return List.copyOf(changes);
    }

    /** What the whole of these changes takes: the most far-reaching one decides; live when there is none. */
    public static ConfigKey.Apply strongest(List<ConfigChange> changes) {
        ConfigKey.Apply strongest = ConfigKey.Apply.LIVE;
        for (ConfigChange change : changes) {
            strongest = change.apply.compareTo(strongest) > 0 ? change.apply : strongest;
        }
        return strongest;
    }

    private static @Nullable Object value(ProxyConfig config, ConfigKey<?> key) {
        if (key.type() == ValueType.LIST) {
            Object elements = config.values().find(key);
            return elements == null ? List.of() : elements;
        }
        return config.values().find(key);
    }
}
