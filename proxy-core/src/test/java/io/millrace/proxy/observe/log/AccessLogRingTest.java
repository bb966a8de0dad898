package io.millrace.proxy.observe.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.CacheResult;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class AccessLogRingTest {
    private final AccessLogRing ring = new AccessLogRing(AccessLogRing.MIN_BYTES);

    @Test
    void valuesAreReadAsWritten() {
        AccessLogRecord entry = ring.claim();
        byte[] address = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        entry.receivedAtMillis(Long.MAX_VALUE)
                .durationNanos(123)
                .client(address, 0, 16)
                .status(599)
                .sentBytes(1L << 40, 1L << 50)
                .version(2, 0)
                .cache(CacheResult.STALE)
                .collapsed()
                .outcome(LogOutcome.FAILED)
                .hierarchy(LogHierarchy.DEFAULT_PARENT);
        for (LogField field : LogField.values()) {
            entry.text(field, "value of " + field);
        }
        ring.publish();

        assertEquals(1, ring.drain(logged -> {
            assertEquals(Long.MAX_VALUE, logged.receivedAtMillis());
            assertEquals(123, logged.durationNanos());
            assertEquals(16, logged.clientLength());
            assertEquals(15, logged.bytes()[logged.clientStart() + 15]);
            assertEquals(599, logged.status());
            assertEquals(1L << 40, logged.headBytes());
            assertEquals(1L << 50, logged.bodyBytes());
            assertEquals(2, logged.majorVersion());
            assertEquals(0, logged.minorVersion());
            assertEquals(CacheResult.STALE, logged.cacheResult());
            assertTrue(logged.isCollapsed());
            assertFalse(logged.isFromRam());
            assertFalse(logged.isNotModified());
            assertEquals(LogOutcome.FAILED, logged.outcome());
            assertEquals(LogHierarchy.DEFAULT_PARENT, logged.hierarchy());
            for (LogField field : LogField.values()) {
                assertEquals("value of " + field, text(logged, field));
                assertFalse(logged.isTruncated(field));
            }
            return true;
        }));
    }

    @Test
    void valuesOfTheRecordBeforeDoNotShineThrough() {
        for (int i = 0; i < 100; i++) {
            LogRecords.fillHit(ring.claim());
            ring.publish();
            ring.drain(logged -> true);
        }
        ring.claim();
        ring.publish();
        ring.drain(logged -> {
            assertEquals(0, logged.receivedAtMillis());
            assertEquals(0, logged.status());
            assertEquals(0, logged.clientLength());
            assertEquals(CacheResult.NONE, logged.cacheResult());
            assertEquals(LogOutcome.OK, logged.outcome());
            for (LogField field : LogField.values()) {
                assertEquals(-1, logged.textLength(field));
            }
            return true;
        });
    }

    @Test
    void takesTextsFromBuffersAndInPieces() {
        ByteBuf buffer = Unpooled.copiedBuffer("xx/path?q", StandardCharsets.US_ASCII);
        try {
            ring.claim()
                    .open(LogField.URL)
                    .append("http://")
                    .append("host".getBytes(StandardCharsets.US_ASCII), 0, 4)
                    .append(buffer, 2, 7)
                    .text(LogField.METHOD, (CharSequence) null)
                    .text(LogField.USER, "\u20ac\u00e4");
            assertEquals(0, buffer.readerIndex());
        } finally {
            buffer.release();
        }
        ring.publish();
        ring.drain(logged -> {
            assertEquals("http://host/path?q", text(logged, LogField.URL));
            assertEquals("?\u00e4", text(logged, LogField.USER));
            assertEquals(-1, logged.textLength(LogField.METHOD));
            return true;
        });
    }

    @Test
    void theLongestRecordFits() {
        for (int round = 0; round < 50; round++) {
            AccessLogRecord entry = ring.claim();
            for (LogField field : LogField.values()) {
                entry.text(field, "x".repeat(field.maxBytes() + 1));
            }
            ring.publish();
            assertEquals(1, ring.drain(logged -> {
                for (LogField field : LogField.values()) {
                    assertEquals(field.maxBytes(), logged.textLength(field));
                    assertTrue(logged.isTruncated(field));
                }
                return true;
            }));
        }
    }

    @Test
    void aFieldIsSetOnceAndOpenedBeforeItIsAppendedTo() {
        AccessLogRecord entry = ring.claim();
        assertThrows(IllegalStateException.class, () -> entry.append("x"));
        entry.text(LogField.USER, "a");
        assertThrows(AssertionError.class, () -> entry.text(LogField.USER, "b"));
    }

    @Test
    void aRecordThatIsNotPublishedIsForgotten() {
        ring.claim().status(1);
        ring.claim().status(2);
        ring.publish();

        List<Integer> statuses = new ArrayList<>();
        ring.drain(logged -> statuses.add(logged.status()));
        assertEquals(List.of(2), statuses);
        assertEquals(1, ring.offered());
    }

    @Test
    void aFullRingDropsAndCountsAndRecoversWhenItIsRead() {
        int published = 0;
        AccessLogRecord entry = ring.claim();
        while (entry != null) {
            entry.status(published++);
            ring.publish();
            entry = ring.claim();
        }
        assertNull(ring.claim());
        assertEquals(2, ring.dropped());
        assertEquals(published + 2, ring.offered());

        assertEquals(published, ring.drain(logged -> true));
        assertTrue(ring.isEmpty());
        assertNotNull(ring.claim());
    }

    @Test
    void aReaderCanPauseAndResume() {
        for (int i = 0; i < 3; i++) {
            ring.claim().status(i);
            ring.publish();
        }
        List<Integer> statuses = new ArrayList<>();
        assertEquals(1, ring.drain(logged -> !statuses.add(logged.status())));
        assertFalse(ring.isEmpty());
        assertEquals(2, ring.drain(logged -> statuses.add(logged.status())));
        assertEquals(List.of(0, 1, 2), statuses);
    }

    /**
     * An event loop that offers as fast as it can, and a reader: every record is read once and completely, or is
     * counted as dropped.
     */
    @Test
    void everyRecordIsReadOnceInOrderOrCountedAsDropped() throws InterruptedException {
        long seed = new Random().nextLong();
        System.out.println("seed " + seed);
        int offered = 200_000;
        AtomicBoolean isDone = new AtomicBoolean();
        Thread loop = new Thread(() -> {
            Random random = new Random(seed);
            String text = "0123456789".repeat(200);
            for (int i = 0; i < offered; i++) {
                AccessLogRecord entry = ring.claim();
                if (entry != null) {
                    int length = random.nextInt(text.length());
                    entry.receivedAtMillis(i).status(length).text(LogField.URL, text.substring(0, length));
                    ring.publish();
                }
            }
            isDone.set(true);
        });
        loop.start();

        long[] read = {0, -1};
        boolean isLastRound = false;
        while (!isLastRound) {
            isLastRound = isDone.get();
            ring.drain(logged -> {
                assertTrue(logged.receivedAtMillis() > read[1], "out of order");
                assertEquals(logged.status(), logged.textLength(LogField.URL));
                int last = logged.textStart(LogField.URL) + logged.status() - 1;
                assertTrue(logged.status() == 0 || logged.bytes()[last] == '0' + (logged.status() - 1) % 10);
                read[1] = logged.receivedAtMillis();
                read[0]++;
                return true;
            });
        }
        loop.join();

        assertEquals(offered, ring.offered());
        assertEquals(offered, read[0] + ring.dropped());
        assertTrue(read[0] > 0);
    }

    private static String text(LoggedRecord logged, LogField field) {
        return new String(
                logged.bytes(), logged.textStart(field), logged.textLength(field), StandardCharsets.ISO_8859_1);
    }
}
