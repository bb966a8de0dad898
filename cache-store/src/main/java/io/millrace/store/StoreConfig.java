package io.millrace.store;

import io.netty.buffer.ByteBufAllocator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The validated settings of a store. Without volumes the store works in RAM only.
 *
 * <p>Immutable.
 */
public final class StoreConfig {
    private final long ramBytes;
    private final long ramObjectBytesMax;
    private final long ramHeapBytesMax;
    private final boolean ramAdmitsAll;
    private final List<VolumeConfig> volumes;
    private final long objectBytesMax;
    private final long segmentBytes;
    private final int blockBytes;
    private final int writeWindowBytes;
    private final long writeQueueBytesMax;
    private final long syncIntervalNanos;
    private final long openWaitNanos;
    private final long refillBytesPerSecond;
    private final int ioThreads;
    private final long inventoryDelayNanos;
    private final long inventoryRetryNanos;
    private final DiskAdmission diskAdmission;
    private final boolean pinsHonoured;
    private final long scrubBytesPerSecond;
    private final @Nullable ByteBufAllocator allocator;

    private StoreConfig(Builder builder) {
        ramBytes = atLeast("ramBytes", builder.ramBytes, 0);
        volumes = List.copyOf(builder.volumes);
        blockBytes = powerOfTwo("blockBytes", builder.blockBytes, 4 * 1024, 16 << 20);
        ramObjectBytesMax = builder.ramObjectBytesMax >= 0
                ? Math.min(builder.ramObjectBytesMax, 1 << 30)
                : Math.min(ramBytes / 8, 1 << 20);
        ramHeapBytesMax = atLeast(
                "ramHeapBytesMax",
                builder.ramHeapBytesMax >= 0
                        ? builder.ramHeapBytesMax
                        : Runtime.getRuntime().maxMemory() / 2,
                1);
        ramAdmitsAll = builder.ramAdmitsAll;
        objectBytesMax = atLeast("objectBytesMax", builder.objectBytesMax, 1);
        segmentBytes = builder.segmentBytes == 0
                ? 0
                : atLeast("segmentBytes", Math.min(builder.segmentBytes, 1 << 30), 4L * blockBytes);
        writeWindowBytes = (int) atLeast("writeWindowBytes", builder.writeWindowBytes, 1);
        writeQueueBytesMax = atLeast("writeQueueBytesMax", builder.writeQueueBytesMax, blockBytes);
        syncIntervalNanos = atLeast("syncIntervalNanos", builder.syncIntervalNanos, 1_000_000);
        openWaitNanos = atLeast("openWaitNanos", builder.openWaitNanos, 0);
        refillBytesPerSecond = atLeast("refillBytesPerSecond", builder.refillBytesPerSecond, 0);
        ioThreads = (int) atLeast("ioThreads", builder.ioThreads, 1);
        inventoryDelayNanos = builder.inventoryDelayNanos;
        inventoryRetryNanos = atLeast("inventoryRetryNanos", builder.inventoryRetryNanos, 0);
        diskAdmission = builder.diskAdmission;
        pinsHonoured = builder.pinsHonoured;
        scrubBytesPerSecond = atLeast("scrubBytesPerSecond", builder.scrubBytesPerSecond, 0);
        allocator = builder.allocator;
    }

    /** Returns a builder with all defaults: 64 MiB of RAM, no volumes. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Budget of the RAM tier in bytes. Buffers, rounded up to the size classes of the allocator, and the heap of
     * entries count against it. 0 disables the tier.
     */
    public long ramBytes() {
        return ramBytes;
    }

    /** Maximum body length in bytes that is kept in RAM. Longer bodies are read from disk in parts. */
    public long ramObjectBytesMax() {
        return ramObjectBytesMax;
    }

    /**
     * Maximum bytes of Java heap for the keys and heads of objects in RAM. If bodies are small, the RAM tier reaches
     * this limit before {@link #ramBytes}. It evicts at either limit.
     */
    public long ramHeapBytesMax() {
        return ramHeapBytesMax;
    }

    /** True if every new object is kept in RAM at first, see {@link CacheStore#ramAdmitsAll}. */
    public boolean ramAdmitsAll() {
        return ramAdmitsAll;
    }

    /** The volumes; empty for a store in RAM only. */
    public List<VolumeConfig> volumes() {
        return volumes;
    }

    /** Maximum body length in bytes that is stored. A body is also limited to half of its volume. */
    public long objectBytesMax() {
        return objectBytesMax;
    }

    /** Bytes per segment in newly created volumes, at most 1 GiB. 0 to derive the size from the size of the volume. */
    public long segmentBytes() {
        return segmentBytes;
    }

    /**
     * Bytes per block, a power of two. A body of at most one block is one record; a longer body is split into blocks.
     */
    public int blockBytes() {
        return blockBytes;
    }

    /**
     * Maximum bytes of one writer that may wait for the disk. Above this limit {@link ObjectWriter#isWritable} returns
     * false.
     */
    public int writeWindowBytes() {
        return writeWindowBytes;
    }

    /**
     * Maximum bytes that may wait for one volume. Above this limit {@link ObjectWriter#isWritable} returns false for
     * the volume's writers; above twice the limit these writers fail.
     */
    public long writeQueueBytesMax() {
        return writeQueueBytesMax;
    }

    /** Maximum nanoseconds until appended records are forced to the device. */
    public long syncIntervalNanos() {
        return syncIntervalNanos;
    }

    /** Maximum nanoseconds that an {@code open} waits for an index that is being rebuilt. */
    public long openWaitNanos() {
        return openWaitNanos;
    }

    /** Bytes read per second after a start to load the previously hot objects into RAM; 0 to disable. */
    public long refillBytesPerSecond() {
        return refillBytesPerSecond;
    }

    /** Number of threads that read from disk. Each volume has one additional thread for writes. */
    public int ioThreads() {
        return ioThreads;
    }

    /**
     * Nanoseconds after the opening of the store at which its inventory, the table of stored objects, is opened.
     * Negative for no inventory: then the store cannot list or count objects.
     */
    public long inventoryDelayNanos() {
        return inventoryDelayNanos;
    }

    /** Nanoseconds from a failed attempt to write an inventory, such as on a full disk, to the next attempt. */
    public long inventoryRetryNanos() {
        return inventoryRetryNanos;
    }

    /** The rule by which a full volume admits new objects. */
    public DiskAdmission diskAdmission() {
        return diskAdmission;
    }

    /**
     * True if pinned objects are always admitted, and kept until their pin expires. False ignores pins, but still
     * stores their times.
     */
    public boolean pinsHonoured() {
        return pinsHonoured;
    }

    /** Bytes of records verified in the background per second, over all volumes; 0 to disable. */
    public long scrubBytesPerSecond() {
        return scrubBytesPerSecond;
    }

    /** The allocator of body buffers; null for the store's own pooled allocator. */
    public @Nullable ByteBufAllocator allocator() {
        return allocator;
    }

    private static long atLeast(String name, long value, long limit) {
        if (value < limit) {
            throw new IllegalArgumentException(name + ": actual=" + value + ", least=" + limit);
        }
        return value;
    }

    private static int powerOfTwo(String name, int value, int least, int most) {
        if (value < least || value > most || Integer.bitCount(value) != 1) {
            throw new IllegalArgumentException(
                    name + ": actual=" + value + ", expected a power of two from " + least + " to " + most);
        }
        return value;
    }

    /** Collects settings; {@link #build} checks them. Confined to one thread. */
    public static final class Builder {
        private long ramBytes = 64L << 20;
        private long ramObjectBytesMax = -1;
        private long ramHeapBytesMax = -1;
        private boolean ramAdmitsAll;
        private List<VolumeConfig> volumes = List.of();
        private long objectBytesMax = Long.MAX_VALUE;
        private long segmentBytes;
        private int blockBytes = 1 << 20;
        private int writeWindowBytes = 4 << 20;
        private long writeQueueBytesMax = 128L << 20;
        private long syncIntervalNanos = TimeUnit.SECONDS.toNanos(5);
        private long openWaitNanos = TimeUnit.SECONDS.toNanos(2);
        private long refillBytesPerSecond;
        private int ioThreads = 4;
        private long inventoryDelayNanos = TimeUnit.SECONDS.toNanos(5);
        private long inventoryRetryNanos = TimeUnit.MINUTES.toNanos(5);
        private DiskAdmission diskAdmission = DiskAdmission.FREQUENCY;
        private boolean pinsHonoured = true;
        private long scrubBytesPerSecond;
        private @Nullable ByteBufAllocator allocator;

        private Builder() {}

        /** {@link StoreConfig#ramBytes}; default 64 MiB. */
        public Builder ramBytes(long value) {
            ramBytes = value;
            return this;
        }

        /** {@link StoreConfig#ramObjectBytesMax}; default an eighth of the RAM tier, at most 1 MiB. */
        public Builder ramObjectBytesMax(long value) {
            ramObjectBytesMax = value;
            return this;
        }

        /** {@link StoreConfig#ramHeapBytesMax}; default half of the JVM's maximum heap. */
        public Builder ramHeapBytesMax(long value) {
            ramHeapBytesMax = value;
            return this;
        }

        /** {@link StoreConfig#ramAdmitsAll}; default false. */
        public Builder ramAdmitsAll(boolean value) {
            ramAdmitsAll = value;
            return this;
        }

        /** {@link StoreConfig#volumes}; default none. */
        public Builder volumes(List<VolumeConfig> value) {
            volumes = List.copyOf(value);
            return this;
        }

        /** {@link StoreConfig#objectBytesMax}; default unlimited. */
        public Builder objectBytesMax(long value) {
            objectBytesMax = value;
            return this;
        }

        /** {@link StoreConfig#segmentBytes}; default depends on the volume's size. */
        public Builder segmentBytes(long value) {
            segmentBytes = value;
            return this;
        }

        /** {@link StoreConfig#blockBytes}; default 1 MiB. */
        public Builder blockBytes(int value) {
            blockBytes = value;
            return this;
        }

        /** {@link StoreConfig#writeWindowBytes}; default 4 MiB. */
        public Builder writeWindowBytes(int value) {
            writeWindowBytes = value;
            return this;
        }

        /** {@link StoreConfig#writeQueueBytesMax}; default 128 MiB. */
        public Builder writeQueueBytesMax(long value) {
            writeQueueBytesMax = value;
            return this;
        }

        /** {@link StoreConfig#syncIntervalNanos}; default 5 s. */
        public Builder syncIntervalNanos(long value) {
            syncIntervalNanos = value;
            return this;
        }

        /** {@link StoreConfig#openWaitNanos}; default 2 s. */
        public Builder openWaitNanos(long value) {
            openWaitNanos = value;
            return this;
        }

        /** {@link StoreConfig#refillBytesPerSecond}; default 0. */
        public Builder refillBytesPerSecond(long value) {
            refillBytesPerSecond = value;
            return this;
        }

        /** {@link StoreConfig#ioThreads}; default 4. */
        public Builder ioThreads(int value) {
            ioThreads = value;
            return this;
        }

        /**
         * {@link StoreConfig#inventoryDelayNanos}; default 5 s, so that the inventory does not slow the first requests.
         */
        public Builder inventoryDelayNanos(long value) {
            inventoryDelayNanos = value;
            return this;
        }

        /** {@link StoreConfig#inventoryRetryNanos}; default 5 minutes. */
        public Builder inventoryRetryNanos(long value) {
            inventoryRetryNanos = value;
            return this;
        }

        /** {@link StoreConfig#diskAdmission}; default {@link DiskAdmission#FREQUENCY}. */
        public Builder diskAdmission(DiskAdmission value) {
            diskAdmission = value;
            return this;
        }

        /** {@link StoreConfig#pinsHonoured}; default true. */
        public Builder pinsHonoured(boolean value) {
            pinsHonoured = value;
            return this;
        }

        /** {@link StoreConfig#scrubBytesPerSecond}; default 0. */
        public Builder scrubBytesPerSecond(long value) {
            scrubBytesPerSecond = value;
            return this;
        }

        /** {@link StoreConfig#allocator}; default the store's own. */
        public Builder allocator(ByteBufAllocator value) {
            allocator = value;
            return this;
        }

        /**
         * Builds the settings.
         *
         * @throws IllegalArgumentException if a setting is out of bounds; the message names it
         */
        public StoreConfig build() {
            return new StoreConfig(this);
        }
    }
}
