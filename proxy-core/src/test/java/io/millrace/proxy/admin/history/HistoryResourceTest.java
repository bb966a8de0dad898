package io.millrace.proxy.admin.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Parameters and answers of {@code /v1/history} and {@code /v1/events}. */
class HistoryResourceTest {
    /** 2027-01-15T08:00:00Z, a multiple of every step. */
    private static final long NOW = 1_800_000_000L;

    private final List<String> reads = new ArrayList<>();
    private List<HistorySource.Archive> archives = List.of(
            new HistorySource.Archive(10, 400),
            new HistorySource.Archive(60, 1500),
            new HistorySource.Archive(600, 4000));

    private final HistorySource source = new HistorySource() {
        @Override
        public List<Archive> archives() {
            return archives;
        }

        @Override
        public List<Point> read(long step, long from, long to) {
            reads.add(step + " " + (from - NOW) + " " + (to - NOW));
            List<Point> points = new ArrayList<>();
            for (long at = to - 3 * step; at < to; at += step) {
                long[] hits = {1, 0, 3, 0};
                points.add(
                        new Point(at, step * 1000, 5, 4, 100, 50, 1, 0, 2, hits, new long[] {0, 0, 0, 1}, new long[4]));
            }
            return points;
        }

        @Override
        public List<Long> boundsMicros() {
            return List.of(10L, 20L, 50L);
        }
    };

    private static String answer(AdminResource resource, String query) throws AdminException {
        StringBuilder body = new StringBuilder();
        AdminRequest request = new AdminRequest("GET", resource.path() + query, resource.path(), new byte[0], false);
        resource.handle(request, (AdminReply reply) -> {
            assertEquals(200, reply.status());
            body.append(new String(reply.body(), StandardCharsets.UTF_8));
        });
        return body.toString();
    }

    private String history(String query) throws AdminException {
        return answer(new HistoryResource(source, () -> NOW * 1000), query);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|10 -3600 0",
                "?from=2h|60 -7200 0",
                "?from=24h|60 -86400 0",
                "?from=7d|600 -604800 0",
                "?from=2d&to=1d|600 -172800 -86400",
                "?from=90d|600 -2400000 0",
                "?from=1h&step=1min|60 -3600 0",
                "?from=1799996400&to=1800000000|10 -3600 0",
                "?from=2027-01-15T07:00:00Z|10 -3600 0",
                "?from=95s&step=30|10 -120 0",
            })
    void finestArchiveThatCoversTheRangeAnswers(String query, String read) throws AdminException {
        history(query);
        assertEquals(List.of(read), reads);
    }

    @Test
    void stepsAreJoinedAndQuantilesAreOfTheJoinedBuckets() throws AdminException {
        String answer = history("?from=30s&step=30s");
        assertTrue(
                answer.contains("\"points\":[{\"at\":1799999970,\"measured_ms\":30000,\"requests\":15,\"hits\":12,"
                        + "\"sent_bytes\":300,\"origin_bytes\":150,\"origin_requests\":3,\"origin_failures\":0,\"errors\":6,"
                        + "\"p50_us\":35,\"p99_us\":50,\"hit_p50_us\":30,\"hit_p99_us\":50,\"miss_p50_us\":50,"
                        + "\"miss_p99_us\":50,\"origin_p50_us\":null,\"origin_p99_us\":null}]"),
                answer);
    }

    @Test
    void onlyTheRequestedSeriesAreSent() throws AdminException {
        String answer = history("?from=10s&series=requests,buckets");
        assertTrue(answer.contains("\"requests\":5,\"hit_buckets\":[1,0,3,0],\"miss_buckets\":[0,0,0,1]"), answer);
        assertTrue(!answer.contains("\"hits\"") && answer.contains("\"bounds_us\":[10,20,50]"), answer);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "?from=yesterday",
                "?step=7s",
                "?step=0x",
                "?series=nothing",
                "?from=1h&from=2h",
                "?from=2d&step=1min&to=now"
            })
    void badParametersAreRefused(String query) {
        AdminException refused = assertThrows(AdminException.class, () -> history(query));
        assertEquals(400, refused.status());
        assertEquals("bad-request", refused.code());
    }

    @Test
    void rangeWithTooManyStepsIsRefusedWithTheLimit() {
        AdminException refused = assertThrows(AdminException.class, () -> history("?from=25d&step=600"));
        assertEquals("too-many-points", refused.code());
        assertTrue(refused.message().contains("2000"), refused.message());
    }

    @Test
    void offIsAnErrorThatNamesTheKey() {
        archives = List.of();
        AdminException refused = assertThrows(AdminException.class, () -> history(""));
        assertEquals(409, refused.status());
        assertTrue(refused.message().contains("admin.history"), refused.message());
    }

    @Test
    void eventsAreFilteredByTheSource() throws AdminException {
        List<String> asked = new ArrayList<>();
        EventSource events = (since, after, kinds, limit) -> {
            asked.add(since + " " + after + " " + kinds + " " + limit);
            return List.of(new EventSource.Numbered(
                    4, new Event(NOW * 1000 + 1, EventKind.DISK_OFFLINE, "/disk", "\"<b>", 2)));
        };
        EventsResource resource = new EventsResource(events, () -> NOW * 1000);
        assertEquals(
                "{\"now\":1800000000,\"events\":[{\"number\":4,\"at\":\"2027-01-15T08:00:00.001Z\",\"at_seconds\":1800000000,"
                        + "\"kind\":\"disk-offline\",\"severity\":\"error\",\"subject\":\"/disk\",\"text\":\"\\\"<b>\",\"more\":2}]}",
                answer(resource, "?since=1h&after=3&kind=disk-offline,purge&kind=start&limit=7")
                        .strip());
        answer(resource, "");
        assertEquals(
                List.of((NOW - 3600) * 1000 + " 3 [START, PURGE, DISK_OFFLINE] 7", Long.MIN_VALUE + " -1 [] 200"),
                asked);
        for (String query : List.of("?kind=nothing", "?limit=0", "?limit=2001", "?after=x", "?since=x")) {
            assertEquals(
                    400,
                    assertThrows(AdminException.class, () -> answer(resource, query))
                            .status());
        }
    }
}
