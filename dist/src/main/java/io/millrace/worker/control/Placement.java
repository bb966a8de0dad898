package io.millrace.worker.control;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import java.nio.file.Path;

/**
 * Where things lie that the configuration does not place. Launcher and worker fill the same gaps with it. Immutable.
 *
 * @param state for the proxy's own small files
 * @param cache the volume of a configuration without {@code storage}
 * @param log the access log of a configuration without {@code log.access.path}
 */
public record Placement(Path state, Path cache, Path log) {
    /** Enough to try the product, and no surprise on a small disk; the file is sparse until it fills. */
    static final long VOLUME_BYTES_DEFAULT = 1L << 30;

    /** Where the indexes of block devices and files lie in the state directory. */
    private static final String INDEXES = "storage";

    /** Storage of automatic certificates without {@code tls.acme.storage}. */
    public Path acme() {
        return state.toAbsolutePath().resolve("acme");
    }

    /** {@code config} with its gaps filled. {@code storage: []} is no gap: it asks for a cache in RAM only. */
    public ProxyConfig complete(ProxyConfig config) {
        ProxyConfig.Builder builder = config.toBuilder();
        if (config.storage().isEmpty() && config.values().find(ConfigKeys.STORAGE) == null) {
            builder.storage(cache, VOLUME_BYTES_DEFAULT);
        }
        builder.acmeIn(acme());
        builder.indexesBelow(state.toAbsolutePath().resolve(INDEXES));
        if (config.log().accessPath() == null) {
            builder.set(ConfigKeys.LOG_ACCESS_PATH, log.resolve("access.log"));
        }
        return builder.build();
    }
}
