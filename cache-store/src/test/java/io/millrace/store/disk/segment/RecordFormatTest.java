package io.millrace.store.disk.segment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DamagedRecordException;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Checks the exact bytes. A change here changes the format, and needs a new format version. */
class RecordFormatTest {
    private static final DiskKey KEY =
            new DiskKey(new byte[] {'k', 'e', 'y'}, 0x1112131415161718L, 0x2122232425262728L);

    private static ByteBuffer buffer() {
        return ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static String hex(ByteBuffer buffer, int from, int to) {
        byte[] bytes = new byte[to - from];
        buffer.get(from, bytes);
        return HexFormat.of().formatHex(bytes);
    }

    @Test
    void aCompleteRecordsHeader() {
        RecordHeader header = RecordHeader.complete(KEY, 0x3132333435363738L, 5, 0x41424344, 70_000);
        header.stamp(0x0000_0007_0000_0009L, 0x5152535455565758L);
        header.checksums(0x61626364, 0x71727374);
        ByteBuffer out = buffer();
        header.encode(out, 16);
        assertEquals(
                "4d525243" + "01" + "02" + "0100" + "0900000007000000" + "5857565554535251" + "3837363534333231"
                        + "1817161514131211" + "2827262524232221" + "7011010000000000" + "70110100" + "00000000"
                        + "03000000" + "05000000" + "44434241" + "64636261" + "0000000000000000" + "74737271",
                hex(out, 16, 16 + 92));
        RecordHeader decoded = RecordHeader.decode(out, 16);
        assertNotNull(decoded);
        assertEquals(header.toString(), decoded.toString());
        assertEquals(96 + 8 + 3 + 5, decoded.contentOffset());
        assertEquals(0, decoded.recordLength() % 64);
    }

    @Test
    void aBlockNamesItsKey() {
        RecordHeader header = RecordHeader.block(0x0102_0304_0506_0708L, 1, 3, 70_000);
        ByteBuffer out = buffer();
        header.encode(out, 0);
        assertEquals("0807060504030201", hex(out, 80, 88));
        RecordHeader decoded = RecordHeader.decode(out, 0);
        assertNotNull(decoded);
        assertEquals(0x0102_0304_0506_0708L, decoded.keyHash());
    }

    @Test
    void everyFlippedBitOfAHeaderIsSeen() {
        RecordHeader header = RecordHeader.head(KEY, 1, 5, 0, BodyPlace.inBlocks(100_000, 8192));
        header.stamp(1, 2);
        ByteBuffer out = buffer();
        header.encode(out, 0);
        for (int bit = 0; bit < 96 * 8; bit++) {
            out.put(bit / 8, (byte) (out.get(bit / 8) ^ 1 << bit % 8));
            assertNull(RecordHeader.decode(out, 0), "bit " + bit);
            out.put(bit / 8, (byte) (out.get(bit / 8) ^ 1 << bit % 8));
        }
        assertNotNull(RecordHeader.decode(out, 0));
    }

    @Test
    void aBlockWithoutContentIsARevocation() {
        RecordHeader empty = RecordHeader.block(1, 2, 3, 0);
        assertTrue(empty.isRevocation());
        assertEquals(RecordHeader.REVOCATION_BYTES, empty.recordLength());
        assertFalse(RecordHeader.block(1, 2, 3, 1).isRevocation());
        assertFalse(RecordHeader.tombstone(KEY).isRevocation());
    }

    @Test
    void theCodesOfTypes() {
        assertEquals(1, RecordType.COMPLETE.code());
        assertEquals(2, RecordType.BLOCK.code());
        assertEquals(3, RecordType.HEAD.code());
        assertEquals(4, RecordType.TOMBSTONE.code());
    }

    @Test
    void theHashOfABlock() {
        assertEquals(0x25b7_75fa_eca8_f520L, DiskKey.blockHashHigh(1));
        assertNotEquals(DiskKey.blockHashLow(1, 0), DiskKey.blockHashLow(1, 1));
    }

    @Test
    void aBodysPlace() throws DamagedRecordException {
        BodyPlace place = BodyPlace.inRecord(300, 7, 6400, 0x1122334455667788L);
        ByteBuffer out = buffer();
        place.encode(out, 0);
        assertEquals(
                "00000000" + "00000000" + "07000000" + "00190000" + "8877665544332211" + "0000000000000000",
                hex(out, 0, 32));
        RecordHeader header = RecordHeader.head(KEY, 1, 5, 0, place);
        assertEquals(place, BodyPlace.decode(out, 0, header));
    }

    @Test
    void aPartialBodysPlace() throws DamagedRecordException {
        BitSet stored = new BitSet();
        stored.set(0);
        stored.set(9);
        BodyPlace place = BodyPlace.partial(100_000, 8192, stored);
        ByteBuffer out = buffer();
        place.encode(out, 0);
        assertEquals("00200000" + "02000000" + "00".repeat(24) + "0102" + "00", hex(out, 0, 35));
        RecordHeader header = RecordHeader.head(KEY, 1, 5, 0, place);
        assertEquals(34, header.extensionLength());
        assertEquals(place, BodyPlace.decode(out, 0, header));
        RecordHeader shorter = RecordHeader.head(KEY, 1, 5, 0, BodyPlace.partial(9 * 8192, 8192, stored));
        assertThrows(DamagedRecordException.class, () -> BodyPlace.decode(out, 0, shorter));
        RecordHeader whole = RecordHeader.head(KEY, 1, 5, 0, BodyPlace.inBlocks(100_000, 8192));
        assertThrows(DamagedRecordException.class, () -> BodyPlace.decode(out, 0, whole));
    }

    @Test
    void aSegmentsHeader() {
        SegmentHeader header = new SegmentHeader(3, 17, 0x1122334455667788L);
        ByteBuffer out = header.encode();
        assertEquals(
                "4d525345474d5400" + "02000000" + "03000000" + "1100000000000000" + "8877665544332211",
                hex(out, 0, 32));
        assertEquals(header, SegmentHeader.decode(out));
        assertNull(SegmentHeader.decode(buffer()));
    }

    @Test
    void aPinnedRecordSaysUntilWhen() {
        RecordHeader header = RecordHeader.head(KEY, 1, 5, 0, BodyPlace.inBlocks(100_000, 8192))
                .pinnedUntil(0x1_0000_0000L);
        ByteBuffer out = buffer();
        header.encode(out, 0);
        assertEquals("ffffffff00000000", hex(out, 80, 88));
        RecordHeader decoded = RecordHeader.decode(out, 0);
        assertNotNull(decoded);
        assertEquals(0xFFFF_FFFFL, decoded.pinnedUntil());
        assertEquals(KEY.hashLow(), decoded.keyHash());
    }

    /** Records of older releases contain 0 in these places, and older releases ignore the places. */
    @Test
    void aSummaryTellsPinsInWhatWasZero() {
        SegmentSummary summary = new SegmentSummary();
        summary.add(RecordHeader.complete(KEY, 1, 5, 7, 100), 64);
        ByteBuffer plain = summary.encode(1 << 20, 99);
        assertEquals("01000000", hex(plain, 36, 40));
        assertEquals("00".repeat(28), hex(plain, 40 + 32, 40 + 60));
        SegmentSummary pinned = new SegmentSummary();
        RecordHeader header = RecordHeader.complete(KEY, 1, 5, 7, 100).pinnedUntil(0x0010_2001L);
        pinned.add(header, 64);
        ByteBuffer out = pinned.encode(1 << 20, 99);
        assertEquals("01211000", hex(out, 36, 40));
        assertEquals("0001000000000000" + "01201000" + "00".repeat(16), hex(out, 40 + 32, 40 + 60));
        SegmentSummary decoded = SegmentSummary.decode(
                out.slice(40, 64).order(out.order()), out.slice(0, 40).order(out.order()));
        assertNotNull(decoded);
        assertEquals(SegmentSummary.entry(header, 64), decoded.entry(0));
        assertEquals(0x0010_2100L, decoded.entry(0).pinnedUntil());
        assertEquals(header.recordLength(), decoded.pinnedBytes());
    }
}
