package io.millrace.proxy.config.key;

import java.util.List;

/**
 * A share of every storage path for some hosts or rules. Immutable.
 *
 * @param name lower-case letters, digits, {@code -} and {@code _}
 * @param share its part of each storage path, 0 to 1
 * @param hosts client hosts whose responses go there: names, and {@code .example.com} or {@code *.example.com} for all below
 */
public record VolumeShareConfig(String name, double share, List<String> hosts) {
    /** The volume of everything that is not for one of these. */
    public static final String DEFAULT_NAME = "default";

    public static VolumeShareConfig from(ConfigValues element) {
        List<String> hosts = element.find(ConfigKeys.VOLUMES_HOSTS);
        return new VolumeShareConfig(
                element.get(ConfigKeys.VOLUMES_NAME),
                element.get(ConfigKeys.VOLUMES_SHARE),
                hosts == null ? List.of() : hosts);
    }
}
