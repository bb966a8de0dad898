package io.millrace.worker.control;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import java.nio.file.Path;

/**
 * The default paths of settings. Launcher and worker apply the same defaults. Immutable.
 *
 * @param state directory for small files of the proxy
 * @param cache the volume of a configuration without {@code storage}
 * @param log directory of the access logs whose path is not set
 */
public record Placement(Path state, Path cache, Path log) {
    /**
     * Size of the default volume. Large enough to try the product, small enough for a small disk; the file is sparse.
     */
    static final long VOLUME_BYTES_DEFAULT = 1L << 30;

    /** Subdirectory of the state directory for the indexes of block devices and files. */
    private static final String INDEXES = "storage";

    /** Storage directory of automatic certificates without {@code tls.acme.storage}. */
    public Path acme() {
        return state.toAbsolutePath().resolve("acme");
    }

    /**
     * Returns {@code config} with the default paths. {@code storage: []} is not replaced: it selects a cache in RAM
     * only.
     */
    public ProxyConfig complete(ProxyConfig config) {
        ProxyConfig.Builder builder = config.toBuilder();
        if (config.storage().isEmpty() && config.values().find(ConfigKeys.STORAGE) == null) {
            builder.storage(cache, VOLUME_BYTES_DEFAULT);
        }
        builder.acmeIn(acme());
        builder.indexesBelow(state.toAbsolutePath().resolve(INDEXES));
        builder.accessLogsBelow(log);
        if (config.log().accessPath() == null && config.log().accessLogs().isEmpty()) {
            builder.set(ConfigKeys.LOG_ACCESS_PATH, log.resolve("access.log"));
        }
        return builder.build();
    }
}
