package io.millrace.proxy.origin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginGroupKeys;
import io.millrace.proxy.dns.DnsStatistics;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.OriginStatistics;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.observe.event.EventKind;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the times of health checks, with a client that sends nothing; the test answers. */
class HealthChecksTest {
    private static final String HOST = "http://10.0.0.1";
    private static final String BROKEN = "http://10.0.0.2";

    /** Longer than an interval with its jitter. */
    private static final long INTERVAL_MILLIS = 12_000;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final OriginGroups groups = new OriginGroups();
    private final List<Sent> sent = new ArrayList<>();
    private final HealthChecks checks = new HealthChecks(channel.eventLoop(), new Client(), groups, () -> nowMillis());
    private long nowMillis = 1_000_000;

    private long nowMillis() {
        return nowMillis;
    }

    /** A check that was sent. */
    private static final class Sent implements OriginCall {
        final OriginResponseHandler handler;
        boolean cancelled;

        Sent(OriginResponseHandler handler) {
            this.handler = handler;
        }

        void head(int status, long contentLength) {
            handler.onHead(
                    ResponseHead.of(status, "", FieldSection.EMPTY),
                    new ResponseFraming(ResponseFraming.Kind.LENGTH, contentLength));
        }

        @Override
        public void write(ByteBuf content) {
            throw new UnsupportedOperationException("a check has no content");
        }

        @Override
        public void finishRequest() {}

        @Override
        public boolean isRequestWritable() {
            return false;
        }

        @Override
        public void pauseReading() {}

        @Override
        public void resumeReading() {}

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    /** Records its calls, and throws for one host. */
    private final class Client implements OriginClient {
        @Override
        public OriginCall fetch(OriginRequest request, OriginResponseHandler handler) {
            if (request.origin().host().equals("10.0.0.2")) {
                throw new IllegalStateException("broken");
            }
            Sent call = new Sent(handler);
            sent.add(call);
            return call;
        }

        @Override
        public OriginStatistics statistics() {
            throw new UnsupportedOperationException("nobody asks");
        }

        @Override
        public DnsStatistics dns() {
            throw new UnsupportedOperationException("nobody asks");
        }

        @Override
        public void close() {}
    }

    @BeforeEach
    void start() {
        checks.start();
        channel.runPendingTasks();
    }

    @AfterEach
    void close() {
        checks.close();
        channel.close();
    }

    private void check(String... hosts) {
        apply("/up", hosts);
    }

    /** Checks the hosts at a path; null for no checks. */
    private void apply(@Nullable String path, String... hosts) {
        groups.apply(ProxyConfig.builder()
                .origins(
                        "g",
                        path == null
                                ? ConfigValues.builder().build()
                                : ConfigValues.builder()
                                        .set(OriginGroupKeys.HEALTH_PATH, path)
                                        .set(OriginGroupKeys.HEALTH_INTERVAL, Duration.ofSeconds(10))
                                        .set(OriginGroupKeys.UNHEALTHY, 1)
                                        .build(),
                        List.of(hosts))
                .build()
                .originGroups());
        advance(0);
    }

    private void advance(long millis) {
        nowMillis += millis;
        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
    }

    private OriginHealth health() {
        return groups.find("g").hosts().get(0).health();
    }

    @ParameterizedTest
    @CsvSource({"/up", ","})
    void theEndOfAMarkIsReportedOnceWithAndWithoutChecks(@Nullable String path) {
        List<EventKind> events = new ArrayList<>();
        groups.events(event -> events.add(event.kind()));
        apply(path, HOST);
        OriginHost host = groups.find("g").hosts().get(0);
        host.markDown(new OriginHealth.ManualDown("deploy", nowMillis, nowMillis + 1000), nowMillis);
        advance(999);
        assertEquals(List.of(EventKind.ORIGIN_DOWN), events);
        advance(1);
        assertEquals(List.of(EventKind.ORIGIN_DOWN, EventKind.ORIGIN_UP), events);
        host.markUp(nowMillis);
        assertEquals(List.of(EventKind.ORIGIN_DOWN, EventKind.ORIGIN_UP), events);
    }

    @Test
    void aCheckThatCannotBeMadeEndsNoOthers() {
        check(HOST, BROKEN);
        advance(INTERVAL_MILLIS);
        assertEquals(1, sent.size());
        sent.get(0).head(200, 0);
        sent.get(0).handler.onComplete(null);
        advance(INTERVAL_MILLIS);
        assertEquals(2, sent.size());
    }

    @Test
    void aMarkWhoseEndCannotBeReportedEndsNoChecks() {
        groups.events(event -> {
            if (event.kind() == EventKind.ORIGIN_UP) {
                throw new IllegalStateException("broken");
            }
        });
        check(HOST);
        OriginHost host = groups.find("g").hosts().get(0);
        host.markDown(new OriginHealth.ManualDown("deploy", nowMillis, nowMillis + 1000), nowMillis);
        advance(1000);
        assertNull(health().manualDown());
        advance(INTERVAL_MILLIS);
        assertEquals(1, sent.size());
    }

    @Test
    void localFailuresDoNotCountForTheHost() {
        check(HOST);
        advance(INTERVAL_MILLIS);
        sent.get(0).handler.onFailure(new OriginFailure(OriginFailure.Reason.INTERNAL, "no socket", true));
        assertEquals(OriginHealth.State.UP, health().state());
        advance(INTERVAL_MILLIS);
        sent.get(1).handler.onFailure(new OriginFailure(OriginFailure.Reason.RESET, "reset", true));
        assertEquals(OriginHealth.State.DOWN, health().state());
    }

    @Test
    void aResponseOfWhichTheContentDripsDoesNotPutTheNextCheckOff() {
        check(HOST);
        advance(INTERVAL_MILLIS);
        sent.get(0).head(200, 10);
        advance(INTERVAL_MILLIS);
        assertEquals(2, sent.size());
        assertTrue(sent.get(0).cancelled);
        sent.get(1).head(503, 10);
        assertEquals(OriginHealth.State.DOWN, health().state());
    }

    @Test
    void theEndOfAnEarlierCheckIsNotTheEndOfTheNext() {
        check(HOST);
        advance(INTERVAL_MILLIS);
        sent.get(0).head(200, 10);
        advance(INTERVAL_MILLIS);
        sent.get(0).handler.onComplete(null);
        advance(INTERVAL_MILLIS);
        assertEquals(2, sent.size());
    }
}
