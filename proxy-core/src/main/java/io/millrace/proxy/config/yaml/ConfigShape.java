package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.access.ErrorPageKeys;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.tls.AcmeKeys;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The configuration keys as a tree with the structure of a file. Sections contain sections and keys; a list key has the
 * shape of its elements. A name may be both a section and a list; the YAML type of its value decides. Immutable once
 * built.
 */
final class ConfigShape {
    private static final Map<ConfigKey<?>, ConfigShape> ELEMENTS = new LinkedHashMap<>();
    private static final ConfigShape ROOT = new ConfigShape("");

    private final String path;
    private final Map<String, ConfigShape> sections = new LinkedHashMap<>();
    private final Map<String, ConfigKey<?>> keys = new LinkedHashMap<>();
    private final Set<String> names = new LinkedHashSet<>();
    /** The keys that must be set, by name. */
    private final Map<String, ConfigKey<?>> required = new LinkedHashMap<>();

    static {
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            String inElement = key.path();
            ConfigShape start = ROOT;
            for (int bracket = inElement.indexOf("[]."); bracket >= 0; bracket = inElement.indexOf("[].")) {
                if (!(start.find(inElement.substring(0, bracket)) instanceof ConfigKey<?> list)) {
                    throw new IllegalStateException(key.path() + " precedes its list");
                }
                start = ELEMENTS.computeIfAbsent(list, k -> new ConfigShape(k.path() + "[]"));
                inElement = inElement.substring(bracket + 3);
            }
            start.add(inElement, key);
        }
        ConfigShape rule = element(ConfigKeys.REMAP);
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.isPerRule()) {
                rule.add(key.path(), key);
            }
        }
    }

    private ConfigShape(String path) {
        this.path = path;
    }

    /** Returns the shape of the whole file. */
    static ConfigShape root() {
        return ROOT;
    }

    /** Returns the shape of an element of a list key. */
    static ConfigShape element(ConfigKey<?> list) {
        ConfigKey<?> canonical = list == RuleKeys.OF_REMAP
                ? RuleKeys.RULES
                : list == RequestLimitKeys.OF_REMAP
                        ? RequestLimitKeys.LIMITS
                        : list == ErrorPageKeys.OF_REMAP ? ErrorPageKeys.PAGES : list;
        ConfigShape shape = ELEMENTS.get(FilterKeys.isFilterList(list) ? FilterKeys.FILTERS : canonical);
        if (shape == null) {
            throw new IllegalStateException(list.path() + " has no elements");
        }
        return shape;
    }

    /**
     * Returns the key that a scalar element sets: {@code - :80} is short for {@code - address: :80}. Returns null if
     * elements of the list are always sections.
     */
    static @Nullable ConfigKey<?> keyOfWord(ConfigKey<?> list) {
        if (list == ConfigKeys.LISTEN) {
            return ConfigKeys.LISTEN_ADDRESS;
        }
        if (list == OriginGroupKeys.HOSTS) {
            return OriginGroupKeys.HOST_URL;
        }
        if (list == AcmeKeys.ISSUERS) {
            return AcmeKeys.DIRECTORY;
        }
        return FilterKeys.isFilterList(list) ? FilterKeys.NAME : null;
    }

    private void add(String pathWithin, ConfigKey<?> key) {
        ConfigShape section = this;
        String rest = pathWithin;
        for (int dot = rest.indexOf('.'); dot >= 0; dot = rest.indexOf('.')) {
            String name = rest.substring(0, dot);
            String full = section.path.isEmpty() ? name : section.path + "." + name;
            section.names.add(name);
            section = section.sections.computeIfAbsent(name, n -> new ConfigShape(full));
            rest = rest.substring(dot + 1);
        }
        section.names.add(rest);
        section.keys.put(rest, key);
        if (key.isRequired()) {
            section.required.put(rest, key);
        }
    }

    /** Path as in {@link ConfigKey#path}; empty for the whole file. */
    String path() {
        return path;
    }

    /** Names of all keys and sections that are allowed here, in the order of the reference page. */
    Collection<String> names() {
        return names;
    }

    @Nullable
    ConfigShape section(String name) {
        return sections.get(name);
    }

    @Nullable
    ConfigKey<?> key(String name) {
        return keys.get(name);
    }

    /** The keys that must be set, by name. */
    Map<String, ConfigKey<?>> required() {
        return required;
    }

    Collection<ConfigKey<?>> keys() {
        return List.copyOf(keys.values());
    }

    /**
     * Returns the {@link ConfigKey} or {@link ConfigShape} at a dotted path below this section. Returns null if there
     * is none.
     */
    @Nullable
    Object find(String dotted) {
        ConfigShape section = this;
        String rest = dotted;
        for (int dot = rest.indexOf('.'); dot >= 0; dot = rest.indexOf('.')) {
            section = section.sections.get(rest.substring(0, dot));
            if (section == null) {
                return null;
            }
            rest = rest.substring(dot + 1);
        }
        ConfigKey<?> key = section.keys.get(rest);
        return key != null ? key : section.sections.get(rest);
    }
}
