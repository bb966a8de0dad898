package io.millrace.worker.control;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.LogConfig;
import java.nio.file.Path;

/**
 * The default paths for settings without a path, which launcher and worker share. Immutable.
 *
 * @param state directory for small files of the proxy
 * @param cache directory of the cache if the configuration has no {@code storage}
 * @param log directory of access logs without a path
 */
public record DefaultPaths(Path state, Path cache, Path log) {
    /**
     * Size of the default storage file in bytes. It is enough to try the product, but also fits on a small disk. The
     * file is sparse.
     */
    static final long VOLUME_BYTES_DEFAULT = 1L << 30;

    /** Subdirectory of the state directory for the indexes of block devices and files. */
    private static final String INDEXES = "storage";

    /** Default of {@code tls.acme.storage}, the directory of automatic certificates. */
    public Path acme() {
        return state.toAbsolutePath().resolve("acme");
    }

    /**
     * Returns a copy of {@code config} with the default paths. Does not replace {@code storage: []}, which selects a
     * cache in RAM only.
     */
    public ProxyConfig complete(ProxyConfig config) {
        ProxyConfig.Builder builder = config.toBuilder();
        if (config.storage().isEmpty() && config.values().find(ConfigKeys.STORAGE) == null) {
            builder.storage(cache, VOLUME_BYTES_DEFAULT);
        }
        builder.acmeStorageUnlessSet(acme());
        builder.indexesBelow(state.toAbsolutePath().resolve(INDEXES));
        builder.accessLogsBelow(log);
        if (config.log().accessPath() == null && config.log().accessLogs().isEmpty()) {
            builder.set(
                    ConfigKeys.LOG_ACCESS_PATH,
                    log.resolve("access" + LogConfig.suffixOf(config.log().accessFormat())));
        }
        return builder.build();
    }
}
