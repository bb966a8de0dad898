package io.millrace.store.index;

import io.millrace.store.io.StoreFile;
import io.millrace.store.io.StoreFile.MappedRegion;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The table words in a memory-mapped file, little-endian.
 *
 * <p>If the mapped file was truncated, or its device cannot be read, a load or store raises an {@link InternalError},
 * possibly later in the same thread. This class uses no compare-and-set: a JVM may compile it as a call, and a fault
 * inside that call would end the process.
 */
final class MappedMemory extends TableMemory {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    /** Log2 of the number of words in one mapping of 1 GiB. A ByteBuffer must be shorter than 2 GiB. */
    private static final int REGION_SHIFT = 27;

    private static final long REGION_BYTES = (long) Long.BYTES << REGION_SHIFT;

    private final MappedRegion[] regions;
    private final ByteBuffer[] buffers;

    private MappedMemory(MappedRegion[] regions) {
        this.regions = regions;
        buffers = new ByteBuffer[regions.length];
        for (int i = 0; i < regions.length; i++) {
            buffers[i] = regions[i].buffer();
        }
    }

    /** Maps a part of the file; the mapping remains valid after the file is closed. */
    static MappedMemory map(StoreFile file, long position, long length) throws IOException {
        MappedRegion[] regions = new MappedRegion[(int) ((length + REGION_BYTES - 1) / REGION_BYTES)];
        for (int i = 0; i < regions.length; i++) {
            long at = i * REGION_BYTES;
            regions[i] = file.map(position + at, Math.min(REGION_BYTES, length - at));
        }
        return new MappedMemory(regions);
    }

    private ByteBuffer region(long word) {
        return buffers[(int) (word >>> REGION_SHIFT)];
    }

    private static int byteOffset(long word) {
        return (int) (word & ((1L << REGION_SHIFT) - 1)) << 3;
    }

    @Override
    long get(long word) {
        return (long) LONGS.get(region(word), byteOffset(word));
    }

    @Override
    long getOpaque(long word) {
        return (long) LONGS.getOpaque(region(word), byteOffset(word));
    }

    @Override
    long getAcquire(long word) {
        return (long) LONGS.getAcquire(region(word), byteOffset(word));
    }

    @Override
    void set(long word, long value) {
        LONGS.set(region(word), byteOffset(word), value);
    }

    @Override
    void setOpaque(long word, long value) {
        LONGS.setOpaque(region(word), byteOffset(word), value);
    }

    @Override
    void setRelease(long word, long value) {
        LONGS.setRelease(region(word), byteOffset(word), value);
    }

    @Override
    void setByte(long word, int number, byte value) {
        region(word).put(byteOffset(word) + number, value);
    }

    @Override
    void force() throws IOException {
        for (MappedRegion region : regions) {
            region.force();
        }
    }
}
