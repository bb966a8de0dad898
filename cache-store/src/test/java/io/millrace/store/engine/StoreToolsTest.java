package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.io.FaultyFileIo;
import io.millrace.store.io.LeaseHeldException;
import io.millrace.store.tool.CheckReport;
import io.millrace.store.tool.StoreCheck;
import io.millrace.store.tool.StoreDump;
import io.millrace.store.tool.StoreStat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the tools that read a closed volume. */
class StoreToolsTest {
    private static final Path VOLUME = Path.of("/volume0");
    private static final Path FILE = VOLUME.resolve("volume");

    private final FaultyFileIo io = new FaultyFileIo();

    @BeforeEach
    void fill() {
        try (TestStore test = open()) {
            for (int i = 0; i < 100; i++) {
                test.put("http://a/" + i, "h", TestStore.body(i, i < 5 ? 30_000 : 3000));
            }
            test.put("http://b/\"quoted\"", "h", TestStore.body(1000, 10));
            for (int i = 10; i < 20; i++) {
                test.remove("http://a/" + i);
            }
        }
    }

    private TestStore open() {
        return new TestStore(StoreContractTest.volumes(4).ramBytes(0), io);
    }

    private List<String> dump(StoreDump.Options options) throws IOException {
        StringBuilder out = new StringBuilder();
        StoreDump.dump(io, VOLUME, options, out);
        return out.toString().lines().toList();
    }

    @Test
    void aSoundVolumeIsSound() throws IOException {
        CheckReport report = StoreCheck.check(io, VOLUME);
        assertTrue(report.isSound(), report::toString);
        assertEquals(0, report.count(CheckReport.Kind.STALE), report::toString);
        String json = report.toJson();
        assertTrue(json.startsWith("{\"path\":\"/volume0\",\"sound\":true,\"facts\":[\"format "), json);
        assertTrue(json.endsWith("\"stale\":0,\"stale_first\":[]}"), json);
    }

    @Test
    void oneFlippedBitIsOneDamagedRecord() throws IOException {
        long at = io.find(FILE, Arrays.copyOf(TestStore.body(50, 3000), 100));
        io.flipBit(FILE, at * 8);
        CheckReport report = StoreCheck.check(io, VOLUME);
        assertFalse(report.isSound());
        assertEquals(1, report.count(CheckReport.Kind.DAMAGED), report::toString);
        assertEquals(0, report.count(CheckReport.Kind.WRONG), report::toString);
    }

    @Test
    void anEntryWithoutItsRecordIsDamage() throws IOException {
        long body = io.find(FILE, Arrays.copyOf(TestStore.body(50, 3000), 100));
        // A position in the header: the record is no longer recognized.
        long header = body / 64 * 64;
        while (io.find(FILE, new byte[] {'M', 'R', 'R', 'C'}) > header) {
            header -= 64;
        }
        for (long at = Math.max(0, header - 256); at < body; at += 16) {
            io.flipBit(FILE, at * 8);
        }
        CheckReport report = StoreCheck.check(io, VOLUME);
        assertFalse(report.isSound());
        assertTrue(report.toString().contains("no record of this hash"), report::toString);
        assertEquals(0, report.count(CheckReport.Kind.WRONG), report::toString);
    }

    @Test
    void dumpsKeysByPrefixAsTextAndJson() throws IOException {
        List<String> keys = dump(new StoreDump.Options(true, false, "http://a/", -1));
        assertTrue(keys.contains("http://a/7"), keys::toString);
        assertFalse(keys.contains("http://b/\"quoted\""), keys::toString);
        // Two records: one stored object, and its removal.
        assertEquals(2, keys.stream().filter("http://a/10"::equals).count());
        List<String> json = dump(new StoreDump.Options(false, true, "http://b/", -1));
        assertEquals(1, json.size());
        assertTrue(json.get(0).contains("\"type\":\"COMPLETE\""), json::toString);
        assertTrue(json.get(0).endsWith("\"key\":\"http://b/\\\"quoted\\\"\"}"), json::toString);
        int all = dump(new StoreDump.Options(false, true, "", -1)).size();
        int first = dump(new StoreDump.Options(false, true, "", 0)).size();
        assertTrue(first > 0 && first < all, () -> first + " of " + all);
    }

    @Test
    void dumpAndFiguresTellOfPins() throws IOException {
        try (TestStore test = open()) {
            ObjectWriter<TextHead> writer = test.store.create(test.key("http://pinned/"));
            writer.head(TextHead.pinned("h", 2_000_000_000L), 0);
            writer.complete(0);
        }
        List<String> text = dump(new StoreDump.Options(false, false, "http://pinned/", -1));
        assertTrue(text.get(text.size() - 1).contains(" pinned=2033-05-18T03:33:20Z http://pinned/"), text::toString);
        List<String> json = dump(new StoreDump.Options(false, true, "http://pinned/", -1));
        assertTrue(json.get(0).contains("\"pinned_until\":2000000000,"), json::toString);
        String figures = StoreStat.of(io, VOLUME, 1_999_999_999L).toJson();
        assertTrue(figures.contains("\"pinned_objects\":1,"), figures);
        assertTrue(StoreCheck.check(io, VOLUME).isSound());
    }

    @Test
    void countsLiveObjects() throws IOException {
        String json = StoreStat.of(io, VOLUME, 0).toJson();
        assertTrue(json.contains("\"objects\":91,\"expired_objects\":0,\"blocks\":20,"), json);
        assertTrue(json.contains("\"index_usable\":true"), json);
        assertTrue(StoreStat.of(io, VOLUME, 0).toString().contains("objects  91, expired 0, blocks 20"));
        assertTrue(json.contains("\"pinned_objects\":0,"), json);
        String later = StoreStat.of(io, VOLUME, Long.MAX_VALUE).toJson();
        assertTrue(later.contains("\"expired_objects\":91"), later);
        FaultyFileIo next = io.afterReboot();
        next.flipBit(VOLUME.resolve("index"), 3);
        String without = StoreStat.of(next, VOLUME, 0).toJson();
        assertTrue(without.contains("\"index_usable\":false"), without);
    }

    @Test
    void volumesInUseAreNotRead() {
        try (TestStore test = open()) {
            assertThrows(LeaseHeldException.class, () -> StoreStat.of(io, VOLUME, 0));
            assertEquals("h", test.head("http://a/7"));
        }
    }
}
