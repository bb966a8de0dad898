package io.millrace.proxy.server;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.StorageConfig;
import io.millrace.proxy.config.key.VolumeShareConfig;
import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreConfig;
import io.millrace.store.VolumeConfig;
import io.millrace.store.VolumeConfig.DirectWrites;
import io.netty.util.internal.PlatformDependent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Converts a configuration to store settings. Stateless. */
public final class StoreConfigs {
    private static final Logger log = LoggerFactory.getLogger(StoreConfigs.class);

    private StoreConfigs() {}

    public static StoreConfig of(ProxyConfig config) {
        return StoreConfig.builder()
                .ramBytes(ramBytes(config))
                .refillBytesPerSecond(config.cache().refillBytesPerSecond())
                .ramAdmitsAll(config.store().ramAdmitsAll())
                .volumes(volumes(config))
                .segmentBytes(config.store().segmentBytes())
                .syncIntervalNanos(TimeUnit.MILLISECONDS.toNanos(config.store().syncIntervalMillis()))
                .pinsHonoured(config.store().permitPinning())
                .diskAdmission(
                        switch (config.store().diskAdmission()) {
                            case ALWAYS -> DiskAdmission.ALWAYS;
                            case SECOND_HIT -> DiskAdmission.SECOND_HIT;
                            case FREQUENCY -> DiskAdmission.FREQUENCY;
                        })
                .openWaitNanos(TimeUnit.MILLISECONDS.toNanos(config.store().openWaitMillis()))
                .build();
    }

    /**
     * Returns the volumes of the storage paths. A path has one volume for each named share, and one for the remaining
     * space. Named volumes are in directories below the path.
     */
    private static List<VolumeConfig> volumes(ProxyConfig config) {
        List<VolumeConfig> volumes = new ArrayList<>();
        for (StorageConfig storage : config.storage()) {
            DirectWrites directWrites = directWrites(storage);
            if (storage.isDeviceOrFile()) {
                volumes.add(deviceOrFile(config, storage).with(directWrites));
                continue;
            }
            long remainingBytes = storage.sizeBytes();
            List<VolumeConfig> named = new ArrayList<>();
            for (VolumeShareConfig share : config.volumes()) {
                long bytes = (long) (storage.sizeBytes() * share.share());
                named.add(
                        new VolumeConfig(storage.path().resolve(share.name()), bytes, share.name()).with(directWrites));
                remainingBytes -= bytes;
            }
            volumes.add(new VolumeConfig(storage.path(), remainingBytes).with(directWrites));
            volumes.addAll(named);
        }
        return volumes;
    }

    private static DirectWrites directWrites(StorageConfig storage) {
        return switch (storage.directWrites()) {
            case AUTO -> DirectWrites.AUTO;
            case ON -> DirectWrites.ON;
            case OFF -> DirectWrites.OFF;
        };
    }

    private static VolumeConfig deviceOrFile(ProxyConfig config, StorageConfig storage) {
        if (storage.indexPath() == null) {
            throw new IllegalArgumentException("storage[].index_path: missing; " + storage.path()
                    + " is a block device or a file, and needs a directory for its index");
        }
        if (!config.volumes().isEmpty()) {
            throw new IllegalArgumentException(
                    "volumes: " + storage.path() + " is a block device or a file, and cannot be divided into volumes");
        }
        return new VolumeConfig(
                storage.path(), storage.sizeBytes(), VolumeConfig.DEFAULT_NAME, storage.indexPath(), storage.format());
    }

    /**
     * Returns the configured size of the RAM tier, limited by the direct memory. The limit is three quarters,
     * because other buffers need the last quarter.
     */
    private static long ramBytes(ProxyConfig config) {
        long configuredBytes = config.cache().ramBytes();
        long limit = PlatformDependent.maxDirectMemory() / 4 * 3;
        if (configuredBytes <= limit) {
            return configuredBytes;
        }
        log.warn(
                "cache.ram_size: {} bytes exceed three quarters of this JVM's direct memory; {} bytes are used"
                        + " (-XX:MaxDirectMemorySize raises the limit)",
                configuredBytes,
                limit);
        return limit;
    }
}
