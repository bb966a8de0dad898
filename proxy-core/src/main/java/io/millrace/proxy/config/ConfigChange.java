package io.millrace.proxy.config;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.key.ValueType;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A setting that differs between two configurations, and how the change is applied. Immutable.
 *
 * @param key path in the catalogue; a list is one setting, whichever of its elements changed
 * @param apply live (by the running worker), rolling (by a new worker) or relaunch (by a new launcher)
 * @param before the old value as written in a file; null if there was none
 * @param after the new value as written in a file; null if there is none
 */
public record ConfigChange(
        String key,
        ConfigKey.Apply apply,
        @Nullable String before,
        @Nullable String after) {
    /**
     * Returns every setting whose value differs, in the order of the catalogue. A setting that is set to its default
     * value is not a change.
     */
    public static List<ConfigChange> between(ProxyConfig before, ProxyConfig after) {
        List<ConfigChange> changes = new ArrayList<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.path().indexOf('[') < 0 && !Objects.equals(value(before, key), value(after, key))) {
                changes.add(new ConfigChange(
                        key.path(),
                        applyOf(key, before, after),
                        before.values().text(key),
                        after.values().text(key)));
            }
        }
        return List.copyOf(changes);
    }

    /**
     * Returns how the change of a key is applied. The event loops of a worker write either for a single access log or
     * for a list of logs, so a change between these forms needs a new worker.
     */
    private static ConfigKey.Apply applyOf(ConfigKey<?> key, ProxyConfig before, ProxyConfig after) {
        boolean isOtherForm = key == LogKeys.LOGS
                && before.log().accessLogs().isEmpty()
                        != after.log().accessLogs().isEmpty();
        return isOtherForm ? ConfigKey.Apply.ROLLING : key.apply();
    }

    /**
     * Returns how all of these changes are applied together: the most far-reaching one decides. Live if there is none.
     */
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
