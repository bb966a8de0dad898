package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.AddressSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A filter, as one place of the configuration uses it. A request matches if all conditions are true. Immutable.
 *
 * @param name name of the filter, or its path: {@code remap[3].filters[1]}
 * @param action the decision about a matching request
 * @param sources addresses of clients; null for any
 * @param listeners local addresses to which the client connected; null for any
 * @param methods request methods; empty for any
 * @param location file position, such as {@code millrace.yaml:12:5}; null for a filter set in code
 */
public record FilterConfig(
        String name,
        Action action,
        @Nullable AddressSet sources,
        @Nullable AddressSet listeners,
        List<String> methods,
        @Nullable String location) {
    /** The decision about a matching request. */
    public enum Action {
        /** The request is allowed. */
        ALLOW,
        /** The request is answered with 403. */
        DENY
    }

    /** Returns the named filters by name. */
    public static Map<String, ConfigValues> named(ConfigValues values) {
        Map<String, ConfigValues> named = new HashMap<>();
        for (ConfigValues filter : values.elements(FilterKeys.FILTERS)) {
            String name = filter.find(FilterKeys.NAME);
            if (name != null) {
                named.putIfAbsent(name, filter);
            }
        }
        return named;
    }

    /**
     * Returns the filter of a list element, which contains a filter or the name of one.
     *
     * @param place path of the element, such as {@code access.filters[0]}
     */
    public static FilterConfig of(ConfigValues element, String place, Map<String, ConfigValues> named) {
        String name = element.find(FilterKeys.NAME);
        ConfigValues filter = name == null ? element : named.get(name);
        if (filter == null) {
            throw new IllegalArgumentException(place + ": no filter has the name " + name);
        }
        return new FilterConfig(
                name == null ? place : name,
                filter.get(FilterKeys.ACTION),
                filter.find(FilterKeys.SRC_IP),
                filter.find(FilterKeys.IN_IP),
                AccessConfig.list(filter, FilterKeys.METHODS),
                filter.filePosition());
    }

    /** Returns true if every request that matches {@code other} also matches this filter. */
    public boolean covers(FilterConfig other) {
        return covers(sources, other.sources)
                && covers(listeners, other.listeners)
                && (methods.isEmpty() || (!other.methods.isEmpty() && methods.containsAll(other.methods)));
    }

    private static boolean covers(@Nullable AddressSet these, @Nullable AddressSet others) {
        return these == null || (others != null && these.covers(others));
    }
}
