package io.millrace.proxy.observe.log.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.expression.logged.LoggedFields;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LogOutcome;
import io.millrace.proxy.observe.log.LoggedRecord;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Viewers and kept requests of the live log, with a clock that the test moves. */
class LiveLogTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5 * SECOND);
    private final LiveLog log = new LiveLog(new LiveLogSettings(SECOND, 3), nanos::get);
    private final LoopLiveLog loop = log.newLoop();

    private static Expression<LoggedFacts> where(String text) throws ExpressionException {
        return Expression.parse(text, LoggedFields.SCHEMA);
    }

    /** Finishes a request as an event loop does. Returns false if nobody needs its record, or it does not fit. */
    private boolean finish(String path, int status, LogOutcome outcome, long firstByteNanos) {
        AccessLogRing ring = loop.ringFor(status, outcome, firstByteNanos);
        AccessLogRecord record = ring == null ? null : ring.claim();
        if (record == null) {
            return false;
        }
        record.status(status)
                .outcome(outcome)
                .firstByteNanos(firstByteNanos)
                .durationNanos(firstByteNanos + 1000)
                .client(new byte[] {(byte) 192, 0, 2, 7}, 0, 4)
                .text(LogField.METHOD, "GET")
                .text(LogField.URL, "http://a.example" + path);
        ring.publish();
        return true;
    }

    private boolean finish(String path) {
        return finish(path, 200, LogOutcome.OK, 0);
    }

    private LiveBatch take(String viewer, long confirmed) {
        return taking(viewer, confirmed, 0).getNow(null);
    }

    private CompletableFuture<LiveBatch> taking(String viewer, long confirmed, long waitNanos) {
        return log.next(viewer, confirmed, waitNanos).toCompletableFuture();
    }

    private static List<String> paths(List<NumberedRecord> records) {
        return records.stream()
                .map(record ->
                        LoggedRecord.ofCopy(record.bytes()).text(LogField.URL).substring("http://a.example".length()))
                .toList();
    }

    private static long last(LiveBatch batch) {
        return batch.records().get(batch.records().size() - 1).number();
    }

    @Test
    void withoutViewersOnlyKeptRequestsAreRecorded() {
        assertNull(loop.ringFor(200, LogOutcome.OK, 0));
        assertNull(loop.ringFor(404, LogOutcome.OK, SECOND - 1));
        assertNull(loop.ringFor(0, LogOutcome.CLIENT_ABORTED, 0));
        assertNotNull(loop.ringFor(503, LogOutcome.OK, 0));
        assertNotNull(loop.ringFor(200, LogOutcome.ORIGIN_READ_FAILED, 0));
        assertNotNull(loop.ringFor(403, LogOutcome.DENIED, 0));
        assertNotNull(loop.ringFor(200, LogOutcome.OK, SECOND));
        log.apply(new LiveLogSettings(SECOND, 0));
        assertNull(loop.ringFor(503, LogOutcome.OK, SECOND));
    }

    @Test
    void aViewerReceivesTheRequestsThatItsConditionAccepts() throws ExpressionException {
        assertFalse(finish("/before"));
        String all = log.open(null).viewer();
        String errors = log.open(where("status >= 400")).viewer();
        finish("/a");
        finish("/b", 404, LogOutcome.OK, 0);
        finish("/c", 502, LogOutcome.CONNECT_FAILED, 0);
        log.drainOnce();
        assertEquals(Set.of("/a", "/b", "/c"), Set.copyOf(paths(take(all, 0).records())));
        assertEquals(Set.of("/b", "/c"), Set.copyOf(paths(take(errors, 0).records())));
    }

    @Test
    void recordsAreSentAgainUntilTheyAreConfirmed() {
        String viewer = log.open(null).viewer();
        finish("/a");
        finish("/b");
        log.drainOnce();
        LiveBatch first = take(viewer, 0);
        assertEquals(List.of("/a", "/b"), paths(first.records()));
        assertEquals(List.of("/a", "/b"), paths(take(viewer, 0).records()));
        finish("/c");
        log.drainOnce();
        assertEquals(List.of("/c"), paths(take(viewer, last(first)).records()));
    }

    @Test
    void aSlowViewerLosesTheOldestRecordsAndIsToldHowMany() {
        String viewer = log.open(null).viewer();
        for (int i = 0; i < LiveViewer.RECORDS_MAX + 7; i++) {
            assertTrue(finish("/" + i));
            log.drainOnce();
        }
        LiveBatch batch = take(viewer, 0);
        assertEquals(7, batch.lost());
        assertEquals(LiveViewer.RECORDS_MAX, batch.records().size());
        assertEquals("/7", paths(batch.records()).get(0));
    }

    @Test
    void deliveredRecordsThatNewOnesReplaceAreNotLost() {
        String viewer = log.open(null).viewer();
        for (int i = 0; i < LiveViewer.RECORDS_MAX; i++) {
            finish("/" + i);
            log.drainOnce();
        }
        LiveBatch first = take(viewer, 0);
        for (int i = 0; i < LiveViewer.RECORDS_MAX; i++) {
            finish("/more" + i);
            log.drainOnce();
        }
        LiveBatch second = take(viewer, last(first));
        assertEquals(0, second.lost());
        assertEquals(LiveViewer.RECORDS_MAX, second.records().size());
    }

    @Test
    void aRecordThatDoesNotFitIntoTheRingIsLostForEachViewer() {
        String one = log.open(null).viewer();
        String two = log.open(null).viewer();
        int written = 0;
        while (finish("/" + written)) {
            written++;
        }
        finish("/another");
        log.drainOnce();
        int replaced = Math.max(0, written - LiveViewer.RECORDS_MAX);
        assertEquals(2 + replaced, take(one, 0).lost());
        assertEquals(2 + replaced, take(two, 0).lost());
    }

    /** A round has a time limit; the records that it does not read stay in the ring. */
    @Test
    void aLongRoundLeavesRecordsForTheNextOne() {
        String viewer = log.open(null).viewer();
        for (int i = 0; i < 200; i++) {
            assertTrue(finish("/" + i));
        }
        LiveLog hurried = new LiveLog(new LiveLogSettings(SECOND, 3), () -> nanos.addAndGet(SECOND));
        LoopLiveLog hurriedLoop = hurried.newLoop();
        String other = hurried.open(null).viewer();
        for (int i = 0; i < 200; i++) {
            AccessLogRing ring = hurriedLoop.ringFor(200, LogOutcome.OK, 0);
            ring.claim().text(LogField.URL, "http://a.example/" + i);
            ring.publish();
        }
        hurried.drainOnce();
        int after = hurried.next(other, 0, 0)
                .toCompletableFuture()
                .getNow(null)
                .records()
                .size();
        assertEquals(64, after);
        log.drainOnce();
        assertEquals(200, take(viewer, 0).records().size());
    }

    @Test
    void aWaitEndsWithTheFirstRecordOrAfterItsTime() {
        String viewer = log.open(null).viewer();
        CompletableFuture<LiveBatch> waiting = taking(viewer, 0, 10 * SECOND);
        log.drainOnce();
        assertFalse(waiting.isDone());
        nanos.addAndGet(10 * SECOND);
        log.drainOnce();
        assertEquals(List.of(), waiting.getNow(null).records());
        CompletableFuture<LiveBatch> next = taking(viewer, 0, 10 * SECOND);
        finish("/a");
        log.drainOnce();
        assertEquals(List.of("/a"), paths(next.getNow(null).records()));
    }

    @Test
    void aSecondRequestOfAViewerEndsTheFirst() {
        String viewer = log.open(null).viewer();
        CompletableFuture<LiveBatch> first = taking(viewer, 0, 10 * SECOND);
        CompletableFuture<LiveBatch> second = taking(viewer, 0, 10 * SECOND);
        assertTrue(first.isDone());
        assertFalse(second.isDone());
        log.close();
        assertTrue(second.isDone(), "the end of the log answers");
    }

    @Test
    void aViewerWithoutRequestsIsRemovedAndTheLastOneEndsTheCollection() {
        String viewer = log.open(null).viewer();
        nanos.addAndGet(LiveLog.EXPIRY_NANOS);
        assertTrue(log.drainOnce());
        assertTrue(finish("/a"));
        nanos.addAndGet(1);
        assertFalse(log.drainOnce());
        assertNull(log.next(viewer, 0, 0));
        assertFalse(finish("/b"));
        // The next viewer receives nothing of the time before.
        String another = log.open(null).viewer();
        log.drainOnce();
        assertEquals(List.of(), take(another, 0).records());
    }

    @Test
    void viewersHaveALimit() {
        Set<String> ids = new TreeSet<>();
        for (int i = 0; i < LiveLog.VIEWERS_MAX; i++) {
            ids.add(log.open(null).viewer());
        }
        assertEquals(LiveLog.VIEWERS_MAX, ids.size());
        assertNull(log.open(null));
        assertEquals(LiveLog.VIEWERS_MAX, log.viewers());
    }

    @ParameterizedTest
    @CsvSource({
        "200, OK, 0, ''",
        "404, OK, 0, ''",
        "0, CLIENT_ABORTED, 0, ''",
        "0, CLIENT_ABORTED, 2, slow",
        "200, OK, 1, slow",
        "504, ORIGIN_TIMEOUT, 30, slow failed",
        "200, ORIGIN_READ_FAILED, 0, failed",
        "500, OK, 0, failed",
        "500, DISK_FAILED, 0, failed",
        "503, DENIED, 0, failed",
        "403, DENIED, 0, refused",
        "429, DENIED, 0, refused",
        "404, INVALID_URL, 0, refused",
        "400, CLIENT_READ_FAILED, 0, refused",
        "413, REQUEST_TOO_LARGE, 0, refused",
    })
    void requestsAreKeptByTheirKinds(int status, LogOutcome outcome, long firstByteSeconds, String kinds)
            throws ExpressionException {
        finish("/x", status, outcome, firstByteSeconds * SECOND);
        for (KeptKind kind : KeptKind.values()) {
            assertEquals(
                    kinds.contains(kind.word()) ? List.of("/x") : List.of(),
                    paths(log.kept(kind, null, 10)),
                    kind.word());
            assertEquals(kind, KeptKind.of(kind.word()));
        }
        assertNull(KeptKind.of("other"));
    }

    @Test
    void theLastRequestsOfEachKindAreKept() throws ExpressionException {
        for (int i = 0; i < 5; i++) {
            finish("/failed" + i, 500 + i, LogOutcome.OK, 0);
            finish("/refused" + i, 403, LogOutcome.DENIED, 0);
        }
        assertEquals(List.of("/failed4", "/failed3", "/failed2"), paths(log.kept(KeptKind.FAILED, null, 10)));
        assertEquals(List.of("/failed4"), paths(log.kept(KeptKind.FAILED, null, 1)));
        assertEquals(List.of("/failed3"), paths(log.kept(KeptKind.FAILED, where("status == 503"), 10)));
        assertEquals(3, log.kept(KeptKind.REFUSED, null, 10).size());
        log.apply(new LiveLogSettings(SECOND, 1));
        assertEquals(List.of("/failed4"), paths(log.kept(KeptKind.FAILED, null, 10)));
    }

    @Test
    void keptRequestsHaveALimitOfBytes() {
        log.apply(new LiveLogSettings(SECOND, 10_000));
        String longPath = "/" + "x".repeat(4000);
        for (int i = 0; i < 400; i++) {
            assertTrue(finish(longPath, 500, LogOutcome.OK, 0));
            log.drainOnce();
        }
        int kept = log.kept(KeptKind.FAILED, null, 10_000).size();
        assertTrue(kept > 200 && kept < 265, kept + " requests of 4 KB in 1 MiB");
    }

    @Test
    void everyMemberOfARecordHasADescription() {
        String object = json(true);
        Matcher names = Pattern.compile("[{,]\"(\\w+)\":").matcher(object);
        Set<String> members = new TreeSet<>();
        while (names.find()) {
            members.add(names.group(1));
        }
        assertEquals(new TreeSet<>(RecordJson.describedMembers().keySet()), members);
    }

    @Test
    void aViewerWithoutTheRightSeesNoValueThatIdentifiesAClient() {
        String object = json(false);
        assertFalse(object.contains("192.0.2.7"), object);
        assertFalse(object.contains("\"client"), object);
        assertTrue(json(true).contains("\"client\":\"192.0.2.7\""));
        assertTrue(object.startsWith("{\"time\":") && object.endsWith(",\"number\":9}"), object);
    }

    /** A record in which every value is set. */
    private static String json(boolean showsClient) {
        LiveLog other = LiveLogSample.create();
        LiveLogSample.finish(other.newLoop());
        NumberedRecord kept = other.kept(KeptKind.FAILED, null, 1).get(0);
        byte[] object = new RecordJson().object(new NumberedRecord(9, kept.bytes()), showsClient);
        return new String(object, StandardCharsets.US_ASCII);
    }
}
