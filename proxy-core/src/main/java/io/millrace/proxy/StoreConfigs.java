package io.millrace.proxy;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.netty.buffer.ByteBufAllocator;
import java.util.concurrent.TimeUnit;

/** What a configuration means for the store. Immutable: no state. */
final class StoreConfigs {
    private StoreConfigs() {}

    static StoreConfig of(ProxyConfig config, ByteBufAllocator allocator) {
        return StoreConfig.builder()
                .ramBytes(config.cache().ramBytes())
                .volumes(config.storage().stream()
                        .map(volume -> new VolumeConfig(volume.path(), volume.sizeBytes()))
                        .toList())
                .segmentBytes(config.store().segmentBytes())
                .syncIntervalNanos(TimeUnit.MILLISECONDS.toNanos(config.store().syncIntervalMillis()))
                .openWaitNanos(TimeUnit.MILLISECONDS.toNanos(config.store().openWaitMillis()))
                .allocator(allocator)
                .build();
    }
}
