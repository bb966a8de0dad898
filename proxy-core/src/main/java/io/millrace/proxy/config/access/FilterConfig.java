package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.AddressSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One filter where it is used. Immutable.
 *
 * @param name its name, or where it stands: {@code remap[3].filters[1]}
 * @param action what becomes of a request that meets all of the rest
 * @param sources which have the client's address; null for any
 * @param listeners which have the address that the client connected to; null for any
 * @param methods of which the request has one; empty for any
 * @param location where it stands, as {@code millrace.yaml:12:5}; null when it comes from code
 */
public record FilterConfig(
        String name,
        Action action,
        @Nullable AddressSet sources,
        @Nullable AddressSet listeners,
        List<String> methods,
        @Nullable String location) {
    /** What becomes of a request. */
    public enum Action {
        /** It may go on. */
        ALLOW,
        /** It is answered with 403. */
        DENY
    }

    /** The filters that have names. */
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
     * The filter that an element stands for.
     *
     * @param place of the element, such as {@code access.filters[0]}
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
                filter.origin());
    }

    /** Whether nothing that meets the other filter fails to meet this one. */
    public boolean covers(FilterConfig other) {
        return covers(sources, other.sources)
                && covers(listeners, other.listeners)
                && (methods.isEmpty() || (!other.methods.isEmpty() && methods.containsAll(other.methods)));
    }

    private static boolean covers(@Nullable AddressSet these, @Nullable AddressSet others) {
        return these == null || (others != null && these.covers(others));
    }
}
