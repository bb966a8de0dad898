package io.millrace.proxy.config.key;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A volume with a share of every storage path, for some hosts or rules. Immutable.
 *
 * @param name lower-case letters, digits, {@code -} and {@code _}
 * @param share fraction of each storage path, 0 to 1
 * @param hosts hosts in client URLs whose responses are stored in the volume; {@code .example.com} or {@code
 *     *.example.com} for all subdomains
 * @param scheme scheme of the client URLs whose responses are stored in the volume; null for any
 */
public record VolumeShareConfig(
        String name,
        double share,
        List<String> hosts,
        @Nullable Scheme scheme) {
    /** The scheme of a client's URL. */
    public enum Scheme {
        HTTP,
        HTTPS
    }

    /** Name of the volume of all responses that are not assigned to another volume. */
    public static final String DEFAULT_NAME = "default";

    public static VolumeShareConfig from(ConfigValues element) {
        List<String> hosts = element.find(ConfigKeys.VOLUMES_HOSTS);
        return new VolumeShareConfig(
                element.get(ConfigKeys.VOLUMES_NAME),
                element.get(ConfigKeys.VOLUMES_SHARE),
                hosts == null ? List.of() : hosts,
                element.find(ConfigKeys.VOLUMES_SCHEME));
    }
}
