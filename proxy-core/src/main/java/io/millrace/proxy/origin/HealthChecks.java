package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.fetch.FetchSettings;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.IdentityHashMap;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs active health checks of origin hosts, by one GET request per host and interval. Intervals
 * vary randomly by up to a tenth, so that proxies do not check at the same moment. One event loop checks for the
 * whole proxy. It also removes expired manual mark-downs, on hosts with and without checks.
 *
 * <p>Confined to this event loop.
 */
public final class HealthChecks {
    /**
     * Interval at which due checks are started and expired manual mark-downs are removed. The shortest configurable
     * check interval is twice as long.
     */
    private static final long TICK_MILLIS = 50;

    /** Limit of response content in bytes. A longer response, and one of unknown length, is cancelled
     * after its head. */
    private static final int READ_BYTES_MAX = 16 << 10;

    private static final Logger log = LoggerFactory.getLogger(HealthChecks.class);

    private final EventExecutor loop;
    private final OriginClient client;
    private final OriginGroups groups;
    private final LongSupplier clockMillis;
    private final SplittableRandom random = new SplittableRandom();
    private IdentityHashMap<OriginHost, Check> checks = new IdentityHashMap<>();
    private @Nullable Future<?> ticking;

    /** @param client sends the checks; belongs to this event loop */
    public HealthChecks(EventExecutor loop, OriginClient client, OriginGroups groups, LongSupplier clockMillis) {
        this.loop = loop;
        this.client = client;
        this.groups = groups;
        this.clockMillis = clockMillis;
    }

    /** Starts the checks. Call once, from any thread. */
    public void start() {
        loop.execute(() -> {
            tick();
            ticking = loop.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
        });
    }

    /** Ends the checks. Call on the event loop. */
    public void close() {
        if (ticking != null) {
            ticking.cancel(false);
        }
        checks.values().forEach(Check::cancel);
        checks.clear();
    }

    /**
     * Removes expired manual mark-downs and starts the due checks. Logs an exception for one host, so that other hosts
     * are still checked.
     */
    private void tick() {
        long nowMillis = clockMillis.getAsLong();
        IdentityHashMap<OriginHost, Check> checksOfTick = new IdentityHashMap<>();
        for (OriginGroup group : groups.all()) {
            for (OriginHost host : group.hosts()) {
                removeExpiredMark(group, host, nowMillis);
            }
            OriginGroupConfig.HealthCheck rules = group.config().healthCheck();
            if (rules != null) {
                for (int i = 0; i < group.hosts().size(); i++) {
                    if (group.isSelf(i)) {
                        continue;
                    }
                    OriginHost host = group.hosts().get(i);
                    Check known = checks.remove(host);
                    Check check = known == null ? new Check(host, nowMillis + firstDelayMillis(rules)) : known;
                    checksOfTick.put(host, check);
                    try {
                        check.runIfDue(group, rules, nowMillis);
                    } catch (RuntimeException e) {
                        log.error("the health check of {} in group {} cannot be sent", host, group.name(), e);
                    }
                }
            }
        }
        checks.values().forEach(Check::cancel);
        checks = checksOfTick;
    }

    private static void removeExpiredMark(OriginGroup group, OriginHost host, long nowMillis) {
        try {
            host.removeExpiredMark(nowMillis);
        } catch (RuntimeException e) {
            log.error("the end of the mark of {} in group {} cannot be reported", host, group.name(), e);
        }
    }

    /** Returns a random delay of the first check, so that first checks are spread over an interval. */
    private long firstDelayMillis(OriginGroupConfig.HealthCheck rules) {
        return (long) (rules.intervalMillis() * random.nextDouble());
    }

    private long nextDelayMillis(OriginGroupConfig.HealthCheck rules) {
        return (long) (rules.intervalMillis() * (0.9 + random.nextDouble() / 5));
    }

    /** The checks of one host. */
    private final class Check {
        private final OriginHost host;
        private long dueMillis;
        /** Number of consecutive passed checks. */
        private int passed;
        /** Number of consecutive failed checks. */
        private int failed;
        /**
         * The host's term in which {@code passed} was counted. A new term begins with each change between up and down.
         */
        private int passedTerm = -1;

        private @Nullable Attempt current;

        Check(OriginHost host, long dueMillis) {
            this.host = host;
            this.dueMillis = dueMillis;
        }

        /**
         * Starts a check if one is due. If the clock was set back, the next check is delayed by at most two intervals.
         */
        void runIfDue(OriginGroup group, OriginGroupConfig.HealthCheck rules, long nowMillis) {
            dueMillis = Math.min(dueMillis, nowMillis + rules.intervalMillis() * 2);
            if (nowMillis < dueMillis || (current != null && !current.judged)) {
                return;
            }
            // Ends a previous check that still receives content.
            cancel();
            dueMillis = nowMillis + nextDelayMillis(rules);
            Attempt attempt = new Attempt(this, group, rules);
            attempt.call = client.fetch(request(group, rules), attempt);
            current = attempt;
        }

        private OriginRequest request(OriginGroup group, OriginGroupConfig.HealthCheck rules) {
            String name = rules.host();
            long nanos = TimeUnit.MILLISECONDS.toNanos(rules.timeoutMillis());
            FieldSection.Builder fields = FieldSection.builder();
            fields.add(FieldName.HOST, name == null ? host.origin().authority() : name);
            fields.add(FieldName.USER_AGENT, "millrace health check");
            OriginRequest.Builder request = OriginRequest.to(host.origin())
                    .target(rules.path())
                    .fields(fields.build())
                    .settings(FetchSettings.builder()
                            .connectTimeoutNanos(nanos)
                            .firstByteTimeoutNanos(nanos)
                            .responseIdleTimeoutNanos(nanos)
                            // The check must not fail because other requests wait for connections.
                            .connectionsMax(Integer.MAX_VALUE)
                            // The check must not change how long other requests' idle connections are kept.
                            .keepAliveIdleNanos(Long.MAX_VALUE)
                            .keepAlive(false)
                            .build());
            if (name != null) {
                request.tlsName(name);
            }
            return request.tls(group.config().tls())
                    .http2(group.config().checkHttp2())
                    .source(group.config().checkSourceAddress())
                    .build();
        }

        void cancel() {
            Attempt last = current;
            current = null;
            if (last != null && last.call != null) {
                last.call.cancel();
            }
        }

        void passed(Attempt attempt) {
            failed = 0;
            passed = passedTerm == attempt.term ? passed + 1 : 1;
            passedTerm = attempt.term;
            if (passed >= attempt.rules.healthy()) {
                host.checkedUp(attempt.term, clockMillis.getAsLong());
            }
        }

        void failed(Attempt attempt, String reason) {
            passed = 0;
            failed++;
            if (failed >= attempt.rules.unhealthy()) {
                host.checkedDown(
                        "health-check " + reason,
                        clockMillis.getAsLong(),
                        groups.current(attempt.group).markdown());
            }
        }
    }

    /** One check of a host. Its events are ignored after the next check has begun. */
    private static final class Attempt implements OriginResponseHandler {
        private final Check check;
        private final OriginGroup group;
        private final OriginGroupConfig.HealthCheck rules;
        /** The host's term at the start of the check. */
        private final int term;
        /** True if the result of the check is known. */
        private boolean judged;

        private @Nullable OriginCall call;

        Attempt(Check check, OriginGroup group, OriginGroupConfig.HealthCheck rules) {
            this.check = check;
            this.group = group;
            this.rules = rules;
            term = check.host.health().term();
        }

        private boolean isCurrent() {
            return check.current == this;
        }

        /**
         * Returns true if the result still counts. This holds if no newer check has begun, and the host's state
         * has not changed.
         */
        private boolean isRelevant() {
            return isCurrent() && !judged && check.host.health().term() == term;
        }

        @Override
        public void onHead(ResponseHead head, ResponseFraming framing) {
            if (isRelevant()) {
                if (rules.statuses().contains(head.status())) {
                    check.passed(this);
                } else {
                    check.failed(this, Integer.toString(head.status()));
                }
            }
            judged = true;
            if (isCurrent() && (framing.contentLength() < 0 || framing.contentLength() > READ_BYTES_MAX)) {
                check.cancel();
            }
        }

        @Override
        public void onContent(ByteBuf content) {
            content.release();
        }

        @Override
        public void onComplete(@Nullable FieldSection trailers) {
            ended();
        }

        @Override
        public void onFailure(OriginFailure failure) {
            if (isRelevant() && failure.beforeHead() && !isOfThisProxy(failure.reason())) {
                check.failed(this, failure.reason().text());
            }
            ended();
        }

        private void ended() {
            judged = true;
            if (isCurrent()) {
                check.current = null;
            }
        }

        private static boolean isOfThisProxy(OriginFailure.Reason reason) {
            return reason == OriginFailure.Reason.CANCELLED || reason == OriginFailure.Reason.INTERNAL;
        }
    }
}
