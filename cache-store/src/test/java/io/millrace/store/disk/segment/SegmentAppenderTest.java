package io.millrace.store.disk.segment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * Tests writes of every alignment with direct writes. The file in memory refuses a direct write that is not aligned.
 */
class SegmentAppenderTest {
    private static final Path PATH = Path.of("/v/volume");
    private static final int SEGMENT_BYTES = 32 * 1024;
    private static final int SEGMENT = 1;
    /** Bytes of a block of the file in memory. */
    private static final int BLOCK = 512;
    /** Content of the segment before the write. */
    private static final byte OLD = 0x55;

    private final FaultyFileIo io = new FaultyFileIo();

    private SegmentFile segments(boolean direct) throws IOException {
        return segments(direct, SEGMENT_BYTES);
    }

    private SegmentFile segments(boolean direct, int segmentBytes) throws IOException {
        UUID id = UUID.randomUUID();
        Superblock superblock = new Superblock(id, id, segmentBytes, 4, 0, 0, 0, List.of(id));
        StoreFile file = io.open(PATH);
        file.resize(superblock.fileBytes());
        if (direct) {
            assertEquals(BLOCK, file.openDirect());
        }
        return new SegmentFile(file, superblock);
    }

    private static List<Integer> lengths() {
        List<Integer> lengths = new ArrayList<>(List.of(1, 63, 64));
        for (int blocks : new int[] {1, 15, 16, 17, 62}) {
            for (int more : new int[] {-64, -1, 0, 1, 192}) {
                lengths.add(blocks * BLOCK + more);
            }
        }
        return lengths;
    }

    /** Offsets in a block and, counted from the end of the segment, the end of the write. */
    private static List<Integer> offsets(int length) {
        List<Integer> offsets = new ArrayList<>();
        for (int offset = 0; offset < BLOCK; offset += 64) {
            offsets.add(offset);
            offsets.add(SEGMENT_BYTES - length - offset);
        }
        offsets.removeIf(offset -> offset < 0 || offset + length > SEGMENT_BYTES);
        return offsets;
    }

    private enum Source {
        /** In the buffer of the appender, at the place that needs no copy. */
        ALIGNED,
        /** In the buffer of the appender, at another place. */
        SHIFTED,
        HEAP
    }

    private static ByteBuffer source(Source kind, SegmentAppender appender, int offset, byte[] bytes) {
        if (kind == Source.HEAP) {
            return ByteBuffer.wrap(bytes);
        }
        int at = appender.offsetInBlock(SEGMENT, offset) + (kind == Source.SHIFTED ? 64 : 0);
        return appender.allocate(bytes.length + 64).put(at, bytes).position(at).limit(at + bytes.length);
    }

    @Test
    void everyPlaceAndLengthIsWrittenAndNothingBefore() throws IOException {
        SegmentFile segments = segments(true);
        SegmentAppender appender = new SegmentAppender(segments);
        Random random = new Random(1);
        for (int length : lengths()) {
            for (int offset : offsets(length)) {
                for (Source kind : Source.values()) {
                    byte[] bytes = new byte[length];
                    random.nextBytes(bytes);
                    check(segments, appender, offset, source(kind, appender, offset, bytes), bytes);
                }
            }
        }
        assertTrue(io.directWrites() > 0);
    }

    private void check(SegmentFile segments, SegmentAppender appender, int offset, ByteBuffer source, byte[] bytes)
            throws IOException {
        byte[] old = new byte[3 * SEGMENT_BYTES];
        Arrays.fill(old, OLD);
        segments.write(0, 0, ByteBuffer.wrap(old, 0, SEGMENT_BYTES));
        segments.write(1, 0, ByteBuffer.wrap(old, 0, SEGMENT_BYTES));
        segments.write(2, 0, ByteBuffer.wrap(old, 0, SEGMENT_BYTES));
        long before = io.directWrites();
        appender.write(SEGMENT, offset, source);
        String what = "offset=" + offset + ", length=" + bytes.length;
        assertFalse(source.hasRemaining(), what);
        byte[] found = io.bytes(PATH, Superblock.SEGMENTS_AT, 3 * SEGMENT_BYTES);
        int at = SEGMENT_BYTES + offset;
        int end = at + bytes.length;
        assertArrayEquals(bytes, Arrays.copyOfRange(found, at, end), what);
        assertArrayEquals(Arrays.copyOf(old, at), Arrays.copyOf(found, at), what);
        int wholeBlocks = end / BLOCK - (at + BLOCK - 1) / BLOCK;
        boolean direct = wholeBlocks >= SegmentAppender.DIRECT_BLOCKS_MIN;
        assertEquals(direct, io.directWrites() > before, what);
        int zeros = direct ? -end & (BLOCK - 1) : 0;
        byte[] rest = new byte[found.length - end];
        Arrays.fill(rest, zeros, rest.length, OLD);
        assertArrayEquals(rest, Arrays.copyOfRange(found, end, found.length), what);
    }

    @Test
    void writesInSuccessionShareTheirBlocks() throws IOException {
        SegmentFile segments = segments(true);
        SegmentAppender appender = new SegmentAppender(segments);
        Random random = new Random(2);
        byte[] all = new byte[SEGMENT_BYTES];
        random.nextBytes(all);
        int offset = 0;
        while (offset < SEGMENT_BYTES) {
            int length = Math.min(64 * (1 + random.nextInt(random.nextBoolean() ? 4 : 200)), SEGMENT_BYTES - offset);
            appender.write(SEGMENT, offset, ByteBuffer.wrap(all, offset, length));
            offset += length;
        }
        assertArrayEquals(all, io.bytes(PATH, Superblock.SEGMENTS_AT + SEGMENT_BYTES, SEGMENT_BYTES));
        assertTrue(io.directWrites() > 0);
    }

    @Test
    void aLongSourceIsCopiedInPieces() throws IOException {
        SegmentAppender appender = new SegmentAppender(segments(true, 1 << 20));
        byte[] bytes = new byte[700_001];
        new Random(6).nextBytes(bytes);
        appender.write(SEGMENT, 1088, ByteBuffer.wrap(bytes));
        assertArrayEquals(bytes, io.bytes(PATH, Superblock.SEGMENTS_AT + (1 << 20) + 1088, bytes.length));
        assertEquals(3, io.directWrites());
    }

    @Test
    void withoutAChannelEverythingIsWrittenAsItIs() throws IOException {
        SegmentAppender appender = new SegmentAppender(segments(false));
        assertEquals(0, appender.offsetInBlock(SEGMENT, 192));
        byte[] bytes = new byte[10_000];
        new Random(3).nextBytes(bytes);
        appender.write(SEGMENT, 192, ByteBuffer.wrap(bytes));
        assertArrayEquals(bytes, io.bytes(PATH, Superblock.SEGMENTS_AT + SEGMENT_BYTES + 192, bytes.length));
        assertEquals(0, io.directWrites());
    }

    @Test
    void aDeviceThatRefusesTheBlocksIsWrittenThroughThePageCache() throws IOException {
        SegmentAppender appender = new SegmentAppender(segments(true));
        byte[] bytes = new byte[10_000];
        new Random(4).nextBytes(bytes);
        io.refuseDirect();
        appender.write(SEGMENT, 192, ByteBuffer.wrap(bytes));
        appender.write(SEGMENT, 192 + 10_048, ByteBuffer.wrap(bytes));
        assertArrayEquals(bytes, io.bytes(PATH, Superblock.SEGMENTS_AT + SEGMENT_BYTES + 192, bytes.length));
        assertArrayEquals(bytes, io.bytes(PATH, Superblock.SEGMENTS_AT + SEGMENT_BYTES + 10_240, bytes.length));
        assertEquals(1, io.directWrites(), "tried once");
    }

    @Test
    void anotherErrorIsReported() throws IOException {
        SegmentAppender appender = new SegmentAppender(segments(true));
        io.failWritesNumbered(PATH, new Random(5), 2);
        ByteBuffer source = ByteBuffer.allocate(10_000);
        assertThrows(IOException.class, () -> appender.write(SEGMENT, 192, source));
        appender.write(SEGMENT, 192, source);
        assertEquals(2, io.directWrites());
    }
}
