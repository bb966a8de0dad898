package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import java.util.ArrayList;
import java.util.List;

/**
 * The request limits for all requests and for each remap rule, in the order of the file. Immutable.
 *
 * @param general the limits of {@code request_limits}
 * @param byRemap the limits of each remap rule; an empty list if it has none
 */
public record RequestLimitsConfig(List<RequestLimitConfig> general, List<List<RequestLimitConfig>> byRemap) {
    /** Copies the lists. */
    public RequestLimitsConfig {
        general = List.copyOf(general);
        byRemap = List.copyOf(byRemap);
    }

    /**
     * Reads the limits of a configuration that was checked.
     *
     * @throws IllegalArgumentException if a limit has a fault; the message is the fault
     */
    public static RequestLimitsConfig from(ConfigValues values) {
        List<List<RequestLimitConfig>> byRemap = new ArrayList<>();
        for (ConfigValues remap : values.elements(ConfigKeys.REMAP)) {
            byRemap.add(
                    read(remap.elements(RequestLimitKeys.OF_REMAP), "remap[" + byRemap.size() + "].request_limits"));
        }
        return new RequestLimitsConfig(read(values.elements(RequestLimitKeys.LIMITS), "request_limits"), byRemap);
    }

    private static List<RequestLimitConfig> read(List<ConfigValues> elements, String path) {
        if (elements.isEmpty()) {
            return List.of();
        }
        List<RequestLimitConfig> limits = new ArrayList<>();
        for (ConfigValues element : elements) {
            String place = path + "[" + limits.size() + "]";
            RequestLimitConfig limit = RequestLimitConfig.read(element, (key, message) -> {
                throw new IllegalArgumentException(place + (key.isEmpty() ? "" : "." + key) + ": " + message);
            });
            if (limit == null) {
                throw new IllegalArgumentException(place + ": has a fault");
            }
            limits.add(limit);
        }
        return List.copyOf(limits);
    }

    /** Returns true if there are no limits. */
    public boolean isEmpty() {
        return general.isEmpty() && byRemap.stream().allMatch(List::isEmpty);
    }
}
