package io.millrace.store.io;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;

/**
 * The content of one file of a {@link FaultyFileIo}, and the part of it that is on the device. Guarded by the caller's
 * lock.
 */
final class MemoryContent {
    private static final int SECTOR = 512;

    byte[] bytes = {};
    /** True for a device, whose length cannot change. */
    boolean fixed;

    private byte[] durable = {};
    private final BitSet unforced = new BitSet();
    private final List<Mapped> mapped = new ArrayList<>();

    /** A mapped part of the file. */
    static final class Mapped {
        final ByteBuffer buffer;
        private final long position;

        private Mapped(long position, ByteBuffer buffer) {
            this.position = position;
            this.buffer = buffer;
        }
    }

    /** Returns a file with these bytes, all of them durable. */
    static MemoryContent of(byte[] bytes, boolean fixed) {
        MemoryContent content = new MemoryContent();
        content.bytes = bytes.clone();
        content.durable = bytes.clone();
        content.fixed = fixed;
        return content;
    }

    /** Copies bytes written to mappings into the content, so that reads find them. */
    void pull() {
        // In reverse order: the header, which is mapped last, is copied first. Its statements then hold for the rest.
        for (int i = mapped.size() - 1; i >= 0; i--) {
            Mapped region = mapped.get(i);
            if (region.buffer.limit() == 0) {
                continue;
            }
            region.buffer.get(0, bytes, (int) region.position, region.buffer.capacity());
            unforced.set((int) region.position / SECTOR, (bytes.length + SECTOR - 1) / SECTOR);
        }
    }

    MemoryContent copy() {
        pull();
        MemoryContent copy = new MemoryContent();
        copy.bytes = bytes.clone();
        copy.durable = durable.clone();
        copy.fixed = fixed;
        copy.unforced.or(unforced);
        return copy;
    }

    void resize(int length) {
        bytes = Arrays.copyOf(bytes, length);
        // A file's length is metadata, which a journaling file system keeps.
        durable = Arrays.copyOf(durable, length);
    }

    void put(ByteBuffer source, long position) throws IOException {
        int count = source.remaining();
        if (fixed && position + count > bytes.length) {
            throw new IOException("No space left on device");
        }
        if (position + count > bytes.length) {
            resize((int) position + count);
        }
        source.get(bytes, (int) position, count);
        unforced.set((int) position / SECTOR, (int) (position + count + SECTOR - 1) / SECTOR);
    }

    void force() {
        unforced.stream().forEach(sector -> {
            int from = sector * SECTOR;
            int length = Math.min(SECTOR, bytes.length - from);
            if (length > 0) {
                System.arraycopy(bytes, from, durable, from, length);
            }
        });
        unforced.clear();
    }

    Mapped map(long position, long length) throws IOException {
        if (position + length > bytes.length) {
            throw new EOFException("mapped past the end");
        }
        for (Mapped known : mapped) {
            if (known.position == position && known.buffer.limit() == length) {
                return known;
            }
        }
        Mapped region =
                new Mapped(position, ByteBuffer.allocateDirect((int) length).order(ByteOrder.LITTLE_ENDIAN));
        region.buffer.put(0, bytes, (int) position, (int) length);
        mapped.add(region);
        return region;
    }

    /** Makes the bytes of a mapping durable. */
    void force(Mapped region) throws IOException {
        if (region.buffer.limit() == 0) {
            throw new IOException("cut off");
        }
        region.buffer.get(0, durable, (int) region.position, region.buffer.capacity());
    }

    /** From now on, every access to mappings fails. */
    void unmap() {
        pull();
        mapped.forEach(region -> region.buffer.limit(0));
    }

    /** Removes the bytes that a power failure would lose. */
    void losePower(Random random) {
        byte[] left = durable.clone();
        for (int sector = unforced.nextSetBit(0); sector >= 0; sector = unforced.nextSetBit(sector + 1)) {
            int from = sector * SECTOR;
            if (from < bytes.length && random.nextInt(3) > 0) {
                System.arraycopy(bytes, from, left, from, Math.min(SECTOR, bytes.length - from));
            }
        }
        bytes = left;
        durable = left.clone();
        unforced.clear();
    }
}
