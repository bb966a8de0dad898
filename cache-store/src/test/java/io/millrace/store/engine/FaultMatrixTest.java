package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.tool.CheckReport;
import io.millrace.store.tool.StoreCheck;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests a volume with known objects that was closed, killed or lost power, and then one fault. The volume opens. A
 * found object is exactly the one stored last. A removed object stays removed, also after a later rebuild of the index.
 * Objects that the fault did not touch are present.
 */
class FaultMatrixTest {
    private static final Path PATH = Path.of("/volume0");
    private static final Path VOLUME = PATH.resolve("volume");
    private static final Path INDEX = PATH.resolve("index");
    private static final int SEGMENTS_AT = 65536;
    private static final int SEGMENT = 128 * 1024;
    private static final int SLOTS_AT = 4096 + 65536;
    private static final int BLOCK = 8192;
    private static final int ALL = Integer.MAX_VALUE;
    private static final int SEEDS = 1;

    /** The end of the store. */
    private enum End {
        CLOSED,
        REBOOTED,
        KILLED,
        LOST_POWER
    }

    /** The fault in the files, and the number of objects that may be lost by it. */
    @SuppressWarnings("ImmutableEnumChecker")
    private enum Fault {
        NOTHING(0, test -> {}),
        VOLUME_MISSING(ALL, test -> test.io.delete(VOLUME)),
        VOLUME_OF_LENGTH_ZERO(ALL, test -> test.io.truncate(VOLUME, 0)),
        VOLUME_CUT_IN_SUPERBLOCK(ALL, test -> test.io.truncate(VOLUME, 100)),
        VOLUME_CUT_BEFORE_SEGMENTS(ALL, test -> test.io.truncate(VOLUME, SEGMENTS_AT)),
        VOLUME_CUT_IN_A_SEGMENT(ALL, test -> test.io.truncate(VOLUME, SEGMENTS_AT + test.random.nextInt(7 * SEGMENT))),
        VOLUME_CUT_AT_ITS_END(ALL, test -> test.io.truncate(VOLUME, test.io.length(VOLUME) - 1)),
        SUPERBLOCK_EVEN(0, test -> test.flip(VOLUME, 0, 4096)),
        SUPERBLOCK_ODD(0, test -> test.flip(VOLUME, 4096, 4096)),
        SUPERBLOCK_BOTH(ALL, test -> {
            test.flip(VOLUME, 0, 4096);
            test.flip(VOLUME, 4096, 4096);
        }),
        SEGMENT_HEADER(ALL, test -> test.flip(VOLUME, test.segment(), 64)),
        RECORD_HEADER(1, test -> test.flip(VOLUME, test.lastRecord("small"), 32)),
        RECORD_HEADER_OF_A_NEW_HEAD(1, test -> test.flip(VOLUME, test.lastRecord("updated") + 48, 48)),
        RECORD_KEY_OR_HEAD(1, test -> test.flip(VOLUME, test.lastRecord("small") + 100, 12)),
        RECORD_CONTENT(1, test -> test.flip(VOLUME, test.lastRecord("small") + 300, 1000)),
        RECORD_CHECKSUMS(1, test -> test.flip(VOLUME, test.lastRecord("small") + 96, 4)),
        BLOCK_HEADER(1, test -> test.flip(VOLUME, test.block(), 32)),
        BLOCK_CONTENT(1, test -> test.flip(VOLUME, test.block() + 100, BLOCK)),
        TOMBSTONE(0, test -> test.flip(VOLUME, test.lastRecord("removed"), 32)),
        TOMBSTONE_KEY(0, test -> test.flip(VOLUME, test.lastRecord("removed") + 96, 9)),
        SUMMARY_FOOTER(0, test -> test.flip(VOLUME, test.segment() + SEGMENT - 64, 64)),
        SUMMARY_ENTRY(0, test -> test.flip(VOLUME, test.segment() + SEGMENT - 64 - 400, 400)),
        INDEX_MISSING(0, test -> test.io.delete(INDEX)),
        INDEX_OF_LENGTH_ZERO(0, test -> test.io.truncate(INDEX, 0)),
        INDEX_CUT(0, test -> test.io.truncate(INDEX, test.random.nextInt((int) test.io.length(INDEX)))),
        INDEX_HEADER(0, test -> test.flip(INDEX, 0, 80)),
        // Counts that are too high make the index evict.
        INDEX_COUNTS(ALL, test -> test.flip(INDEX, 80, 24)),
        INDEX_SEGMENT_TABLE(0, test -> test.flip(INDEX, 4096, 16 * 32)),
        INDEX_SLOT(1, test -> test.flip(INDEX, test.slot(), 32)),
        INDEX_NEW_LEFT(0, test -> test.rubbish("index.new")),
        OWNER(0, test -> test.rubbish("owner")),
        READERS(0, test -> test.rubbish("readers.7")),
        HOT(0, test -> test.rubbish("hot")),
        HOT_MISSING(0, test -> test.io.delete(PATH.resolve("hot"))),
        INVENTORY(0, test -> {
            test.rubbish("inventory");
            test.rubbish("inventory.state");
            test.rubbish("object-lists/1.list");
        });

        private final int lossMax;
        private final Damage damage;

        Fault(int lossMax, Damage damage) {
            this.lossMax = lossMax;
            this.damage = damage;
        }

        boolean startsEmpty() {
            return lossMax == ALL && this != SEGMENT_HEADER && this != INDEX_COUNTS;
        }
    }

    private interface Damage {
        void to(FaultMatrixTest test) throws IOException;
    }

    /** A stored object; {@code blocks} are its stored blocks, null for all. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Stored(String head, byte[] body, BitSet blocks) {}

    private final Map<String, Stored> stored = new HashMap<>();
    private final List<String> removed = new ArrayList<>();
    private FaultyFileIo io = new FaultyFileIo();
    private Random random = new Random();
    private long bodies;

    static List<Arguments> cases() {
        List<Arguments> cases = new ArrayList<>();
        for (End end : End.values()) {
            for (Fault fault : Fault.values()) {
                for (long seed = 0; seed < Long.getLong("store.seeds", SEEDS); seed++) {
                    cases.add(Arguments.of(end, fault, seed + Long.getLong("store.seed", 0)));
                }
            }
        }
        return cases;
    }

    @ParameterizedTest(name = "{0} {1} seed {2}")
    @MethodSource("cases")
    void oneFault(End end, Fault fault, long seed) throws IOException {
        random = new Random(seed);
        fillAndEnd(end);
        fault.damage.to(this);
        int lost;
        try (TestStore test = open()) {
            lost = lost(test);
            // New objects and old ones must not be confused, whatever state the store assumed for the volume.
            for (int i = 0; i < 6; i++) {
                put(test, "later" + i, 30_000);
            }
            int again = lost(test);
            assertTrue(again <= lost || fault == Fault.INDEX_COUNTS, () -> "lost later: " + again);
        }
        noneWrong();
        if (fault.startsEmpty()) {
            assertEquals(stored.size() - 6, lost);
        } else {
            assertTrue(lost <= fault.lossMax, () -> "lost " + lost);
        }
        io = io.afterReboot();
        io.delete(INDEX);
        try (TestStore test = open()) {
            lost(test);
        }
        noneWrong();
    }

    private TestStore open() {
        return new TestStore(StoreContractTest.volumes(2).ramBytes(0), io).withoutCheck();
    }

    private void noneWrong() throws IOException {
        CheckReport report = StoreCheck.check(io, PATH);
        assertEquals(0, report.count(CheckReport.Kind.WRONG), report::toString);
    }

    private void fillAndEnd(End end) {
        TestStore test = open();
        fill(test);
        if (end == End.CLOSED || end == End.REBOOTED) {
            test.close();
        }
        FaultyFileIo before = io;
        switch (end) {
            case CLOSED, KILLED -> io = before.afterKill();
            case REBOOTED -> io = before.afterReboot();
            case LOST_POWER -> io = before.afterPowerLoss(random);
        }
        if (end == End.KILLED || end == End.LOST_POWER) {
            test.abandon();
        }
    }

    /** Everything is synced at the end, so that each kind of end leaves it on disk. */
    private void fill(TestStore test) {
        for (int i = 0; i < 8; i++) {
            put(test, "removed" + i, 2000);
            put(test, "updated" + i, i < 4 ? 2000 : 30_000);
            put(test, "replaced" + i, 2000);
            put(test, "long" + i, 30_000);
        }
        test.sync();
        change(test, 0);
        for (int i = 0; i < 9; i++) {
            put(test, "small" + i, 2000);
        }
        putInPart(test, "part0", 0, 2);
        putInPart(test, "part1", 1);
        for (int i = 0; i < 6; i++) {
            put(test, "filler" + i, 30_000);
        }
        change(test, 1);
        test.sync();
    }

    private void change(TestStore test, int first) {
        for (int i = first; i < 8; i += 2) {
            test.remove("removed" + i);
            stored.remove("removed" + i);
            removed.add("removed" + i);
            put(test, "replaced" + i, 2100);
            String head = "new head of updated" + i;
            test.update("updated" + i, head);
            stored.compute("updated" + i, (key, before) -> new Stored(head, before.body(), null));
        }
    }

    private void put(TestStore test, String key, int length) {
        Stored version = new Stored("head " + bodies + " of " + key, TestStore.body(bodies++, length), null);
        assertTrue(test.put(key, version.head(), version.body()));
        stored.put(key, version);
    }

    private void putInPart(TestStore test, String key, int... blocks) {
        Stored version = new Stored("head of " + key, TestStore.body(bodies++, 4 * BLOCK), new BitSet());
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of(version.head()), version.body().length);
        for (int block : blocks) {
            writer.claim((long) block * BLOCK, 1);
            writer.write((long) block * BLOCK, Unpooled.copiedBuffer(version.body(), block * BLOCK, BLOCK));
            version.blocks().set(block);
        }
        writer.keep();
        stored.put(key, version);
    }

    /** Returns the number of objects that are missing or incomplete; any other content fails the test. */
    private int lost(TestStore test) {
        int lost = 0;
        for (Map.Entry<String, Stored> entry : stored.entrySet()) {
            lost += isThere(test, entry.getKey(), entry.getValue()) ? 0 : 1;
        }
        for (String key : removed) {
            assertNull(test.find(key), key);
        }
        return lost;
    }

    private boolean isThere(TestStore test, String key, Stored version) {
        StoredObject<TextHead> object = test.find(key);
        if (object == null) {
            return false;
        }
        try {
            assertEquals(version.head(), object.head().text(), key);
            assertEquals(version.body().length, object.length(), key);
            boolean all = true;
            for (int from = 0; from < version.body().length; from += BLOCK) {
                boolean wanted = version.blocks() == null || version.blocks().get(from / BLOCK);
                int length = Math.min(BLOCK, version.body().length - from);
                boolean there = (object.isComplete() || object.hasRange(from, length))
                        && sameBytes(object, from, length, version.body());
                assertTrue(wanted || !there, () -> key + " has a block that was never stored");
                all &= there || !wanted;
            }
            return all;
        } finally {
            object.release();
        }
    }

    /** Returns false if the bytes cannot be read. */
    private static boolean sameBytes(StoredObject<TextHead> object, int from, int length, byte[] body) {
        try {
            for (int at = from; at < from + length; ) {
                byte[] some = TestStore.readSome(object, at, from + length - at);
                assertArrayEquals(Arrays.copyOfRange(body, at, at + some.length), some);
                at += some.length;
            }
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Flips a random bit in a part of a file. */
    private void flip(Path file, long from, int length) {
        io.flipBit(file, from * 8 + random.nextInt(length * 8));
    }

    private void rubbish(String name) {
        io.replace(PATH.resolve(name), TestStore.body(random.nextLong(), random.nextInt(5000)));
    }

    /** Returns the position of a random sealed segment. */
    private long segment() {
        return SEGMENTS_AT + (long) random.nextInt(3) * SEGMENT;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns the position of the last record of a random key. */
    private long lastRecord(String prefix) {
        byte[] key = ascii(prefix + random.nextInt(8));
        long last = -1;
        for (long at = keyAt(key, 0); at >= 0; at = keyAt(key, at + 200)) {
            last = at;
        }
        assertTrue(last > 0);
        return last;
    }

    /** Returns the start of the next record with the key behind its header. Its head may also contain the key. */
    private long keyAt(byte[] key, long from) {
        long at = io.find(VOLUME, key, from);
        while (at >= 0) {
            for (long start = SEGMENTS_AT + (at - SEGMENTS_AT) / 64 * 64; start > at - 200; start -= 64) {
                if (Arrays.equals(ascii("MRRC"), io.bytes(VOLUME, start, 4))) {
                    return start >= from - 200 ? start : -1;
                }
            }
            at = io.find(VOLUME, key, at + 1);
        }
        return -1;
    }

    /**
     * Returns the position of a random block of a long object: 100 bytes of header and checksum precede its content.
     */
    private long block() {
        Stored some = stored.get("long" + random.nextInt(8));
        int from = random.nextInt(3) * BLOCK;
        return io.find(VOLUME, Arrays.copyOfRange(some.body(), from, from + 32), 0) - 100;
    }

    /** Returns the position of a random slot in use. */
    private long slot() {
        int slots = (int) (io.length(INDEX) - SLOTS_AT) / 32;
        long at = -1;
        while (at < 0) {
            long candidate = SLOTS_AT + 32L * random.nextInt(slots);
            byte[] slot = io.bytes(INDEX, candidate, 32);
            at = Arrays.equals(new byte[7], Arrays.copyOfRange(slot, 17, 24)) ? -1 : candidate;
        }
        return at;
    }
}
