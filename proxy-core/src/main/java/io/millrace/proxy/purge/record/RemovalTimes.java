package io.millrace.proxy.purge.record;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A hash table of fixed size with the times of the latest removals of URLs. An import of responses
 * ({@code millctl cache import}) must not bring back older responses of a removed URL, and the store does not keep
 * removals. Keys with the same slot share the latest time. So an import may refuse a response without need, but never
 * accepts a removed response.
 *
 * <p>With a directory, the table is a mapped file, which several workers share and which is kept across restarts.
 * A power failure can lose the removals of the last seconds. Thread-safe; methods do not block, except for page
 * faults.
 */
public final class RemovalTimes {
    static final String FILE_NAME = "removals";

    /** Number of slots. They need 512 KiB in a file. */
    static final int SLOTS = 1 << 16;

    private static final Logger log = LoggerFactory.getLogger(RemovalTimes.class);
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle ELEMENTS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final long FNV_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    /**
     * The mapped file; null if the times are in memory. Element 0 is the time of the latest swept purge by
     * pattern. One element for each slot follows.
     */
    private final @Nullable ByteBuffer file;

    private final long[] memory;
    private final LongSupplier clockMillis;

    private RemovalTimes(@Nullable ByteBuffer file, LongSupplier clockMillis) {
        this.file = file;
        this.memory = new long[file == null ? 1 + SLOTS : 0];
        this.clockMillis = clockMillis;
    }

    /**
     * Opens the table in a directory. Creates a table in memory if the directory is null or the file cannot be used.
     */
    static RemovalTimes in(@Nullable Path directory, LongSupplier clockMillis) {
        int bytes = Long.BYTES * (1 + SLOTS);
        if (directory != null) {
            try {
                Files.createDirectories(directory);
                try (FileChannel file = FileChannel.open(
                        directory.resolve(FILE_NAME),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
                    return new RemovalTimes(file.map(FileChannel.MapMode.READ_WRITE, 0, bytes), clockMillis);
                }
            } catch (IOException e) {
                log.error("{}: times of removals are kept in memory only: {}", directory, e.toString());
            }
        }
        return new RemovalTimes(null, clockMillis);
    }

    /**
     * Records that a key is removed now.
     *
     * @param key the bytes of a primary key; borrowed
     */
    public void removed(byte[] key) {
        raise(place(key), clockMillis.getAsLong());
    }

    /** Records that a purge by pattern is completely swept. Lookups do not compare responses with it any more. */
    public void swept(long millisOfPurge) {
        raise(0, millisOfPurge);
    }

    /** Returns the time of the latest removal of a key, or a later time, in epoch milliseconds. Returns 0 for none. */
    public long latest(byte[] key) {
        return at(place(key));
    }

    /** Returns the time of the latest purge by pattern that was swept, in epoch milliseconds. Returns 0 for none. */
    public long latestSwept() {
        return at(0);
    }

    private void raise(int place, long millis) {
        long before = at(place);
        while (before < millis && !replace(place, before, millis)) {
            before = at(place);
        }
    }

    private long at(int place) {
        return file == null
                ? (long) ELEMENTS.getVolatile(memory, place)
                : (long) LONGS.getVolatile(file, Long.BYTES * place);
    }

    private boolean replace(int place, long before, long after) {
        return file == null
                ? ELEMENTS.compareAndSet(memory, place, before, after)
                : LONGS.compareAndSet(file, Long.BYTES * place, before, after);
    }

    private static int place(byte[] key) {
        long hash = FNV_BASIS;
        for (byte octet : key) {
            hash = (hash ^ (octet & 0xff)) * FNV_PRIME;
        }
        int slot = (int) (hash ^ (hash >>> 32) ^ (hash >>> 16)) & (SLOTS - 1);
        return 1 + slot;
    }
}
