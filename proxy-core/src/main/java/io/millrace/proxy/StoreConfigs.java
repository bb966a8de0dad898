package io.millrace.proxy;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.netty.util.internal.PlatformDependent;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a configuration means for the store. Immutable: no state. */
final class StoreConfigs {
    private static final Logger log = LoggerFactory.getLogger(StoreConfigs.class);

    private StoreConfigs() {}

    static StoreConfig of(ProxyConfig config) {
        return StoreConfig.builder()
                .ramBytes(ramBytes(config))
                .refillBytesPerSecond(config.cache().refillBytesPerSecond())
                .volumes(config.storage().stream()
                        .map(volume -> new VolumeConfig(volume.path(), volume.sizeBytes()))
                        .toList())
                .segmentBytes(config.store().segmentBytes())
                .syncIntervalNanos(TimeUnit.MILLISECONDS.toNanos(config.store().syncIntervalMillis()))
                .openWaitNanos(TimeUnit.MILLISECONDS.toNanos(config.store().openWaitMillis()))
                .build();
    }

    /** The RAM tier's size: what is configured, but no more than this JVM may allocate beside its other buffers. */
    private static long ramBytes(ProxyConfig config) {
        long wanted = config.cache().ramBytes();
        long limit = PlatformDependent.maxDirectMemory() / 4 * 3;
        if (wanted <= limit) {
            return wanted;
        }
        log.warn(
                "cache.ram_size: {} bytes are more than three quarters of this JVM's direct memory; using {}"
                        + " (-XX:MaxDirectMemorySize raises the limit)",
                wanted,
                limit);
        return limit;
    }
}
