package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class InvalidationRaceTest {
    private static final TargetUri URL = (TargetUri) TargetUri.parseAbsolute("http://h/a");
    private static final ResponseHead RESPONSE = ResponseHead.of(
            200,
            "OK",
            FieldSection.builder().add("Cache-Control", "max-age=1000").build());

    /** What a purge took away stays away while a wider one replaces its entry. Rounds, no time. */
    @Test
    void whatIsGoneByItsPathNeverComesBackWhileItsHostOrAllIsPurged() throws Exception {
        InvalidationTable table = new InvalidationTable();
        long host = ScopeHash.hostHash(URL);
        table.invalidate(InvalidationKind.PREFIX, false, host, new byte[] {'/', 'a'}, 0);
        AtomicLong gone = new AtomicLong(0); // stamp under which everything asked for is gone
        gone.set(table.stamp() - 1);
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong seen = new AtomicLong();
        Thread reader = new Thread(() -> {
            while (!over.get()) {
                long stamp = gone.get();
                if (table.of(URL, stamp, Labels.NONE) == null) {
                    seen.incrementAndGet();
                }
            }
        });
        reader.start();
        for (int i = 0; i < 400_000; i++) {
            table.invalidate(InvalidationKind.PREFIX, false, host, new byte[] {'/', 'a'}, 0);
            gone.set(table.stamp() - 1);
            if (i % 2 == 0) {
                table.invalidate(InvalidationKind.ALL, false, 0, null, 0);
            } else {
                table.invalidate(InvalidationKind.HOST, false, host, null, 0);
            }
        }
        over.set(true);
        reader.join();
        assertEquals(0, seen.get());
    }

    /** Hits on another thread remember in the head that no purge outdates it, while the purge comes. */
    @Test
    void aPurgeOutdatesAResponseThatIsHitMeanwhile() throws Exception {
        InvalidationTable table = new InvalidationTable();
        long host = ScopeHash.hostHash(URL);
        AtomicReference<StoredHead> inRam = new AtomicReference<>(head(table.stamp()));
        AtomicBoolean over = new AtomicBoolean();
        Thread reader = new Thread(() -> {
            while (!over.get()) {
                table.of(URL, inRam.get(), 0);
            }
        });
        reader.start();
        int current = 0;
        for (int i = 0; i < 200_000; i++) {
            StoredHead head = head(table.stamp());
            inRam.set(head);
            table.invalidate(InvalidationKind.HOST, false, host + 1, null, 0);
            table.of(URL, head, 0);
            table.invalidate(InvalidationKind.HOST, false, host, null, 0);
            current += table.of(URL, head, 0) == null ? 1 : 0;
        }
        over.set(true);
        reader.join();
        assertEquals(0, current);
    }

    private static StoredHead head(long stamp) {
        RequestHead request = RequestHead.of("GET", URL, FieldSection.EMPTY);
        return StoredHead.of(request, RESPONSE, 0, 0, CacheSettings.DEFAULTS).withStamp(stamp, URL, null);
    }
}
