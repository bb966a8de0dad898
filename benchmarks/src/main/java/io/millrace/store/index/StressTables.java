package io.millrace.store.index;

import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A source of small index tables for jcstress tests. Each table has its own section (window) of one mapped file. The
 * first window is reused after {@value #WINDOWS} tables; a jcstress run uses fewer at the same time (at most 64 times
 * 8).
 */
public final class StressTables {
    private static final int SHIFT = 3;
    private static final int AUXILIARY_BYTES = 64;
    private static final int HEAD_BYTES = (int) SlotTable.headBytes(AUXILIARY_BYTES);
    private static final int WINDOW_BYTES = HEAD_BYTES + (int) SlotTable.slotBytes(SHIFT + 1);
    private static final int WINDOWS = 8192;
    private static final ByteBuffer MAPPED = mapped();
    private static final AtomicLong NEXT = new AtomicLong();

    private StressTables() {}

    private static ByteBuffer mapped() {
        try {
            Path file = Files.createTempFile("millrace-jcstress", ".index");
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) WINDOWS * WINDOW_BYTES);
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns an empty table of eight slots. */
    static SlotTable table() {
        return table(SHIFT);
    }

    private static SlotTable table(int shift) {
        int at = (int) (NEXT.getAndIncrement() % WINDOWS) * WINDOW_BYTES;
        ByteBuffer window = MAPPED.slice(at, WINDOW_BYTES);
        for (int i = 0; i < 128; i += Long.BYTES) {
            window.putLong(i, 0);
        }
        for (int i = SlotTable.PAGE_BYTES; i < SlotTable.PAGE_BYTES + AUXILIARY_BYTES; i += Long.BYTES) {
            window.putLong(i, 0);
        }
        for (int i = HEAD_BYTES; i < WINDOW_BYTES; i += Long.BYTES) {
            window.putLong(i, 0);
        }
        StoreFile file = new Window(window);
        try {
            MappedMemory slots = MappedMemory.map(file, HEAD_BYTES, SlotTable.slotBytes(shift));
            return new SlotTable(MappedMemory.map(file, 0, HEAD_BYTES), slots, AUXILIARY_BYTES, shift);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns an empty, complete index of eight slots, which can grow once. */
    public static MappedIndex index() {
        MappedIndex index = new MappedIndex(NewWindowTable::new, "jcstress", table(), false);
        index.slotsAtOnce(2, 2);
        return index;
    }

    /** Returns a location that differs for each number. */
    static long location(int number) {
        return Location.pack(number, 64, 64, 7);
    }

    /** Returns the number that was passed to {@link #location}; 0 for no location. */
    static int number(long location) {
        return location == Location.NONE ? 0 : Location.segment(location);
    }

    private record NewWindowTable(int shift) implements TableSource.NewTable {
        @Override
        public @Nullable SlotTable step(int bytes) {
            return table(shift);
        }

        @Override
        public void replace() {
            // The table has no file name to change.
        }

        @Override
        public void discard() {
            // The window is reused later.
        }
    }

    private record Window(ByteBuffer bytes) implements StoreFile {
        @Override
        public MappedRegion map(long position, long length) {
            return new Region(bytes.slice((int) position, (int) length));
        }

        @Override
        public long length() {
            return bytes.capacity();
        }

        @Override
        public void resize(long length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int read(ByteBuffer target, long position) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void write(ByteBuffer source, long position) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void force() {
            // Nothing has to be durable.
        }

        @Override
        public void close() {
            // The file is already closed.
        }
    }

    private record Region(ByteBuffer buffer) implements StoreFile.MappedRegion {
        @Override
        public void force() {
            // Nothing has to be durable.
        }
    }
}
