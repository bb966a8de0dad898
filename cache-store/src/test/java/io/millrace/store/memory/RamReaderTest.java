package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RamReaderTest {
    private static final int LENGTH = 100;

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    private final RamTier<Entry> tier = new RamTier<>(200_000, Runnable::run);
    private final RamTier<Entry>.Reader reader = tier.reader();

    private final class Entry extends RamEntry {
        Entry(String key, int content) {
            super(bytes(key), key.hashCode(), allocator.directBuffer(LENGTH), 10);
            for (int i = 0; i < LENGTH; i++) {
                body().writeByte(content);
            }
        }

        int at(int index) {
            return body().getByte(index);
        }
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.US_ASCII);
    }

    private Entry put(String key, int content) {
        Entry entry = new Entry(key, content);
        tier.put(entry);
        entry.releaseEntry();
        return entry;
    }

    private Entry find(String key) {
        return reader.get(key.hashCode(), bytes(key));
    }

    private long usedBytes() {
        return allocator.metric().usedDirectMemory();
    }

    @AfterEach
    void givesEveryBufferBack() {
        tier.clear();
        reader.close();
        assertEquals(0, usedBytes());
        assertEquals(0, tier.unlinkedEntries());
    }

    @Test
    void foundEntriesStayReadableUntilTheReaderEnds() {
        Entry entry = put("a", 1);
        reader.begin();
        assertSame(entry, find("a"));
        tier.remove("a".hashCode(), bytes("a"));
        assertEquals(1, entry.at(LENGTH - 1));
        assertNull(find("a"));
        reader.end();
        tier.resize();
        assertEquals(0, usedBytes());
    }

    @Test
    void replacedEntriesStayReadableBesideTheirSuccessors() {
        Entry old = put("a", 1);
        reader.begin();
        assertSame(old, find("a"));
        Entry replaced = put("a", 2);
        assertSame(replaced, find("a"));
        assertEquals(1, old.at(0));
        assertEquals(2, replaced.at(0));
        reader.end();
    }

    @Test
    void retainedEntriesOutliveTheReader() {
        put("a", 1);
        reader.begin();
        Entry entry = find("a");
        entry.retainEntry();
        tier.remove("a".hashCode(), bytes("a"));
        reader.end();
        tier.resize();
        assertEquals(1, entry.at(0));
        entry.releaseEntry();
    }

    @Test
    void nothingWaitsForReadersThatReadNothing() {
        put("a", 1);
        tier.remove("a".hashCode(), bytes("a"));
        assertEquals(0, usedBytes());
    }

    @Test
    void waitingEntriesAreReleasedWithTheNextRemoval() {
        put("a", 1);
        put("b", 1);
        reader.begin();
        tier.remove("a".hashCode(), bytes("a"));
        reader.end();
        assertEquals(2 * LENGTH, usedBytes());
        tier.remove("b".hashCode(), bytes("b"));
        assertEquals(0, usedBytes());
    }

    /** The later section did not see the entry, so the entry need not wait for it. */
    @Test
    void entriesThatWaitForOneSectionDoNotWaitForTheNext() {
        put("a", 1);
        reader.begin();
        tier.remove("a".hashCode(), bytes("a"));
        reader.end();
        reader.begin();
        tier.resize();
        assertEquals(0, usedBytes());
        reader.end();
    }

    @Test
    void entriesThatWaitForOneReaderWaitAlsoWhenAnotherCloses() {
        try (RamTier<Entry>.Reader other = tier.reader()) {
            assertNotNull(other);
            Entry entry = put("a", 1);
            reader.begin();
            assertSame(entry, find("a"));
            tier.remove("a".hashCode(), bytes("a"));
        }
        assertEquals(LENGTH, usedBytes());
        reader.end();
    }

    @Test
    void readerThatIsClosedWhileItReadsKeepsNothing() {
        put("a", 1);
        RamTier<Entry>.Reader other = tier.reader();
        other.begin();
        assertNotNull(other.get("a".hashCode(), bytes("a")));
        tier.remove("a".hashCode(), bytes("a"));
        other.close();
        assertEquals(0, usedBytes());
    }

    @Test
    void readerLooksBetweenItsBeginAndItsEndOnly() {
        put("a", 1);
        assertThrows(IllegalStateException.class, () -> find("a"));
        assertThrows(IllegalStateException.class, reader::end);
        reader.begin();
        assertThrows(IllegalStateException.class, reader::begin);
        reader.end();
    }

    /**
     * Two threads read while another one replaces and removes. No reader sees a released buffer, or two bodies in one.
     */
    @Test
    void readersNeverSeeReleasedMemory() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        AtomicBoolean over = new AtomicBoolean();
        try {
            CompletableFuture<Long> one = CompletableFuture.supplyAsync(() -> readUntil(over), threads);
            CompletableFuture<Long> two = CompletableFuture.supplyAsync(() -> readUntil(over), threads);
            SplittableRandom random = new SplittableRandom(7);
            for (int i = 0; i < 2_000; i++) {
                String key = "k" + random.nextInt(4);
                if (random.nextInt(3) == 0) {
                    tier.remove(key.hashCode(), bytes(key));
                } else {
                    put(key, random.nextInt(100));
                }
            }
            over.set(true);
            assertNotNull(one.get());
            assertNotNull(two.get());
        } finally {
            over.set(true);
            threads.shutdown();
        }
    }

    private long readUntil(AtomicBoolean over) {
        long found = 0;
        try (RamTier<Entry>.Reader own = tier.reader()) {
            for (int turn = 0; !over.get(); turn++) {
                String key = "k" + turn % 4;
                own.begin();
                Entry entry = own.get(key.hashCode(), bytes(key));
                if (entry != null) {
                    int content = entry.at(0);
                    for (int i = 1; i < LENGTH; i++) {
                        assertEquals(content, entry.at(i));
                    }
                    found++;
                }
                own.end();
            }
        }
        return found;
    }
}
