package io.millrace.proxy.config;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** Reads configurations down to the elements of their lists. Thread-safe: stateless. */
public final class ConfigParts {
    private ConfigParts() {}

    /**
     * Returns the paths of the keys whose values differ between two configurations, including those of list elements,
     * and the lists.
     */
    public static Set<String> differing(ProxyConfig before, ProxyConfig after) {
        Set<String> paths = new TreeSet<>();
        add(before.values(), after.values(), paths);
        return paths;
    }

    private static void add(ConfigValues before, ConfigValues after, Set<String> paths) {
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            Object one = before.find(key);
            Object other = after.find(key);
            if (!Objects.equals(one, other)) {
                paths.add(key.path());
                if (key.type() == ValueType.LIST) {
                    addElements(elements(one), elements(other), paths);
                }
            }
        }
    }

    private static void addElements(List<ConfigValues> before, List<ConfigValues> after, Set<String> paths) {
        for (int i = 0; i < Math.max(before.size(), after.size()); i++) {
            add(
                    i < before.size() ? before.get(i) : ConfigValues.empty(),
                    i < after.size() ? after.get(i) : ConfigValues.empty(),
                    paths);
        }
    }

    private static List<ConfigValues> elements(Object list) {
        return list == null ? List.of() : ValueType.LIST.cast(list);
    }

    /** Returns the same configuration with the global value of a key moved into every rule of remap. */
    public static ProxyConfig movedIntoRules(ProxyConfig config, ConfigKey<?> key) {
        if (!config.values().isSet(key)) {
            return config;
        }
        List<ConfigValues> rules = new ArrayList<>();
        for (ConfigValues rule : elements(config.values().find(ConfigKeys.REMAP))) {
            ConfigValues.Builder with = rule.toBuilder();
            with.put(key, config.values().find(key));
            rules.add(with.build());
        }
        ConfigValues.Builder values = ConfigValues.builder();
        for (ConfigKey<?> each : ConfigCatalog.keys()) {
            if (each != key && config.values().isSet(each)) {
                values.put(each, config.values().find(each));
            }
        }
        values.put(ConfigKeys.REMAP, rules);
        return new ProxyConfig(values.build());
    }
}
