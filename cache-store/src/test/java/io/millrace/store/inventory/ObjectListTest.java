package io.millrace.store.inventory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.io.FileIo;
import io.millrace.store.io.SystemFileIo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the file that lists the objects of a segment. */
class ObjectListTest {
    private static final long SEGMENT = 35;
    private static final long TAG = 0x1234_5678_9abc_def0L;

    private final FileIo io = new SystemFileIo();

    @TempDir
    private Path directory;

    private ObjectList open() throws IOException {
        return ObjectList.open(io, directory, SEGMENT, TAG);
    }

    private Path file() {
        return directory.resolve("23.list");
    }

    private static InventoryEntry entry(long offset, int keyLength) {
        byte[] key = "k".repeat(keyLength).getBytes(StandardCharsets.ISO_8859_1);
        return new InventoryEntry(offset, -3, 4, 5, 6, -7, -8, true, key, "text ü", List.of("a", "ü"));
    }

    private static void append(ObjectList list, InventoryEntry... entries) throws IOException {
        byte[] all = new byte[0];
        for (InventoryEntry entry : entries) {
            byte[] encoded = entry.encode();
            all = Arrays.copyOf(all, all.length + encoded.length);
            System.arraycopy(encoded, 0, all, all.length - encoded.length, encoded.length);
        }
        list.append(all, 0, all.length, entries.length);
    }

    private static List<Long> offsets(ObjectList list) throws IOException {
        List<Long> offsets = new ArrayList<>();
        for (ObjectList.Block block = list.read(0); block != null; block = list.read(block.next())) {
            int at = 0;
            for (int i = 0; i < block.count(); i++) {
                offsets.add(InventoryEntry.offset(block.entries(), at));
                at += InventoryEntry.length(block.entries(), at);
            }
            assertEquals(0, InventoryEntry.length(block.entries(), at), "no further entry");
        }
        return offsets;
    }

    @Test
    void anEntryIsReadUnchanged() throws IOException {
        ObjectList list = open();
        append(list, entry(1_073_741_760L, 10));
        ObjectList.Block block = list.read(0);
        assertNotNull(block);
        InventoryEntry back = InventoryEntry.decode(block.entries(), 0);
        assertNotNull(back);
        assertEquals(1_073_741_760L, back.offset());
        assertEquals(-3, back.hashHigh());
        assertEquals(4, back.hashLow());
        assertEquals(5, back.bodyLength());
        assertEquals(6, back.headLength());
        assertEquals(-7, back.expiry());
        assertEquals(-8, back.storedAt());
        assertTrue(back.isWhole());
        assertArrayEquals("kkkkkkkkkk".getBytes(StandardCharsets.ISO_8859_1), back.key());
        assertEquals("text ü", back.text());
        assertEquals(List.of("a", "ü"), back.tags());
    }

    @Test
    void blocksAreReadInTheirOrderAlsoAfterAReopening() throws IOException {
        ObjectList list = open();
        assertNull(list.read(0), "empty");
        append(list, entry(64, 10), entry(128, 20));
        append(list, entry(192, 0));
        assertEquals(Files.size(file()), list.bytes());
        for (ObjectList same : List.of(list, open())) {
            assertEquals(List.of(64L, 128L, 192L), offsets(same));
            assertEquals(3, same.entries());
            assertEquals(ObjectList.NOTHING, same.coveredTo());
        }
        append(open(), entry(256, 1));
        assertEquals(List.of(64L, 128L, 192L, 256L), offsets(open()));
    }

    @Test
    void aCoverageHoldsUntilTheNextBlock() throws IOException {
        ObjectList list = open();
        append(list, entry(64, 10));
        list.cover(77);
        assertEquals(77, list.coveredTo());
        ObjectList reopened = open();
        assertEquals(77, reopened.coveredTo());
        assertEquals(1, reopened.entries());
        append(reopened, entry(128, 10));
        assertEquals(ObjectList.NOTHING, reopened.coveredTo());
        assertEquals(ObjectList.NOTHING, open().coveredTo());
        assertEquals(List.of(64L, 128L), offsets(open()), "the coverage block is skipped");
    }

    @Test
    void anEmptyListCanBeCovered() throws IOException {
        open().cover(ObjectList.ALL);
        assertEquals(ObjectList.ALL, open().coveredTo());
        assertNull(open().read(0));
    }

    @Test
    void theListOfAnEarlierUseOfTheSegmentIsIgnored() throws IOException {
        ObjectList earlier = open();
        append(earlier, entry(64, 10), entry(128, 10));
        earlier.cover(ObjectList.ALL);
        ObjectList list = ObjectList.open(io, directory, SEGMENT, TAG + 1);
        assertEquals(0, list.entries());
        assertEquals(ObjectList.NOTHING, list.coveredTo());
        append(list, entry(192, 10));
        assertEquals(List.of(192L), offsets(ObjectList.open(io, directory, SEGMENT, TAG + 1)));
        assertEquals(Files.size(file()), list.bytes());
    }

    /** A process that is killed while it writes leaves a part of a block. */
    @Test
    void aPartlyWrittenBlockIsCutOff() throws IOException {
        ObjectList list = open();
        append(list, entry(64, 10));
        long whole = list.bytes();
        append(list, entry(128, 500));
        byte[] bytes = Files.readAllBytes(file());
        for (int length = (int) whole; length < bytes.length; length++) {
            Files.write(file(), Arrays.copyOf(bytes, length));
            assertEquals(List.of(64L), offsets(open()));
            assertEquals(whole, Files.size(file()));
        }
    }

    @Test
    void everyChangedByteIsDetected() throws IOException {
        ObjectList list = open();
        append(list, entry(64, 10));
        append(list, entry(128, 10));
        list.cover(9);
        byte[] bytes = Files.readAllBytes(file());
        for (int i = 0; i < bytes.length; i++) {
            byte[] damaged = bytes.clone();
            damaged[i] ^= 0x40;
            Files.write(file(), damaged);
            ObjectList opened = open();
            if (opened.coveredTo() == ObjectList.NOTHING) {
                // The coverage block is damaged. The list has no other block that is damaged.
                assertEquals(List.of(64L, 128L), offsets(opened));
            } else {
                InventoryException e = assertThrows(InventoryException.class, () -> offsets(opened));
                assertTrue(e.getMessage().contains("23.list: damaged block at or after offset"), e.getMessage());
            }
        }
    }

    @Test
    void theSegmentsWithAListAreFound() throws IOException {
        append(open(), entry(64, 10));
        Files.writeString(directory.resolve("README"), "not a list");
        Files.writeString(directory.resolve("x.list"), "not a list");
        assertEquals(List.of(SEGMENT), ObjectList.segments(io, directory));
        ObjectList.delete(io, directory, SEGMENT);
        assertFalse(Files.exists(file()));
        assertEquals(List.of(), ObjectList.segments(io, directory));
        assertEquals(List.of(), ObjectList.segments(io, directory.resolve("none")));
    }

    @Test
    void textAndTagsAreLimited() {
        List<String> tags = new ArrayList<>(List.of("x".repeat(256)));
        for (int i = 0; i < 70; i++) {
            tags.add("tag" + i);
        }
        byte[] encoded = new InventoryEntry(64, 1, 2, 3, 4, 5, 6, false, new byte[3], "t".repeat(2000), tags).encode();
        ByteBuffer in = ByteBuffer.wrap(encoded).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(encoded.length, InventoryEntry.length(in, 0));
        InventoryEntry back = InventoryEntry.decode(in, 0);
        assertNotNull(back);
        assertEquals(1024, back.text().length());
        assertEquals(tags.subList(1, 65), back.tags());
    }

    @Test
    void damagedBytesAreNoEntry() {
        long seed = new Random().nextLong();
        System.out.println("seed=" + seed);
        Random random = new Random(seed);
        byte[] sound = entry(64, 30).encode();
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = Arrays.copyOf(sound, random.nextInt(sound.length + 1));
            if (damaged.length > 0) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            ByteBuffer in = ByteBuffer.wrap(damaged).order(ByteOrder.LITTLE_ENDIAN);
            int length = InventoryEntry.length(in, 0);
            assertTrue(length == 0 || (length >= InventoryEntry.FIXED_BYTES && length <= damaged.length));
            if (length > 0) {
                // Returns null or some entry, but never throws an exception.
                InventoryEntry.decode(in, 0);
            }
        }
    }
}
