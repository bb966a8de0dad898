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
 * Asks the hosts of groups that want it how they are: a GET at each interval, with a tenth of it up or down by chance, so that
 * hosts and proxies do not fall into step. One loop does it for the whole proxy.
 *
 * <p>Confined to the event loop of its client.
 */
public final class HealthChecks {
    /** How often it is looked whether a check is due; the least interval is twice as long. */
    private static final long TICK_MILLIS = 50;

    /** A response that is longer is not read to its end for the sake of the connection. */
    private static final int READ_BYTES_MAX = 16 << 10;

    private static final Logger log = LoggerFactory.getLogger(HealthChecks.class);

    private final EventExecutor loop;
    private final OriginClient client;
    private final OriginGroups groups;
    private final LongSupplier clockMillis;
    private final SplittableRandom random = new SplittableRandom();
    private IdentityHashMap<OriginHost, Check> checks = new IdentityHashMap<>();
    private @Nullable Future<?> ticking;

    /** @param client of this loop */
    public HealthChecks(EventExecutor loop, OriginClient client, OriginGroups groups, LongSupplier clockMillis) {
        this.loop = loop;
        this.client = client;
        this.groups = groups;
        this.clockMillis = clockMillis;
    }

    /** Begins; any thread, once. */
    public void start() {
        loop.execute(() -> {
            tick();
            ticking = loop.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
        });
    }

    /** Ends; on the loop. */
    public void close() {
        if (ticking != null) {
            ticking.cancel(false);
        }
        checks.values().forEach(Check::cancel);
        checks.clear();
    }

    /** What went wrong with one host must not end the checks of all. */
    private void tick() {
        long nowMillis = clockMillis.getAsLong();
        IdentityHashMap<OriginHost, Check> now = new IdentityHashMap<>();
        for (OriginGroup group : groups.all()) {
            OriginGroupConfig.HealthCheck rules = group.config().healthCheck();
            if (rules != null) {
                for (int i = 0; i < group.hosts().size(); i++) {
                    if (group.isSelf(i)) {
                        continue;
                    }
                    OriginHost host = group.hosts().get(i);
                    Check known = checks.remove(host);
                    Check check = known == null ? new Check(host, nowMillis + spread(rules)) : known;
                    now.put(host, check);
                    try {
                        check.runIfDue(group, rules, nowMillis);
                    } catch (RuntimeException e) {
                        log.error("the health check of {} in {} cannot be made", host, group.name(), e);
                    }
                }
            }
        }
        checks.values().forEach(Check::cancel);
        checks = now;
    }

    /** The first checks are spread over an interval. */
    private long spread(OriginGroupConfig.HealthCheck rules) {
        return (long) (rules.intervalMillis() * random.nextDouble());
    }

    private long next(OriginGroupConfig.HealthCheck rules) {
        return (long) (rules.intervalMillis() * (0.9 + random.nextDouble() / 5));
    }

    /** The checks of one host. */
    private final class Check {
        private final OriginHost host;
        private long dueMillis;
        private int passed;
        private int failed;
        /** The host's term in those that passed. */
        private int passedTerm = -1;

        private @Nullable Attempt current;

        Check(OriginHost host, long dueMillis) {
            this.host = host;
            this.dueMillis = dueMillis;
        }

        /** A clock that was set back makes the next check at most one interval late. */
        void runIfDue(OriginGroup of, OriginGroupConfig.HealthCheck rules, long nowMillis) {
            dueMillis = Math.min(dueMillis, nowMillis + rules.intervalMillis() * 2);
            if (nowMillis < dueMillis || (current != null && !current.judged)) {
                return;
            }
            // What content is still to come has had its time.
            cancel();
            dueMillis = nowMillis + next(rules);
            Attempt attempt = new Attempt(this, of, rules);
            attempt.call = client.fetch(request(of, rules), attempt);
            current = attempt;
        }

        private OriginRequest request(OriginGroup of, OriginGroupConfig.HealthCheck rules) {
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
                            // Requests that wait for connections are no reason to think that nobody is there.
                            .connectionsMax(Integer.MAX_VALUE)
                            // Nor is it a check's business how long others keep theirs.
                            .keepAliveIdleNanos(Long.MAX_VALUE)
                            .keepAlive(false)
                            .build());
            if (name != null) {
                request.tlsName(name);
            }
            return request.tls(of.config().tls())
                    .http2(of.config().checkHttp2())
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

        void failed(Attempt attempt, String why) {
            passed = 0;
            failed++;
            if (failed >= attempt.rules.unhealthy()) {
                host.checkedDown(
                        "health-check " + why,
                        clockMillis.getAsLong(),
                        groups.current(attempt.group).markdown());
            }
        }
    }

    /** One check. What is heard of it when another has begun is dropped. */
    private static final class Attempt implements OriginResponseHandler {
        private final Check of;
        private final OriginGroup group;
        private final OriginGroupConfig.HealthCheck rules;
        /** The host's term when it began. */
        private final int term;
        /** Whether it is known what came of it. */
        private boolean judged;

        private @Nullable OriginCall call;

        Attempt(Check of, OriginGroup group, OriginGroupConfig.HealthCheck rules) {
            this.of = of;
            this.group = group;
            this.rules = rules;
            term = of.host.health().term();
        }

        private boolean isCurrent() {
            return of.current == this;
        }

        /** One that began before the host went down or came back says nothing of it now. */
        private boolean isTelling() {
            return isCurrent() && !judged && of.host.health().term() == term;
        }

        @Override
        public void onHead(ResponseHead head, ResponseFraming framing) {
            if (isTelling()) {
                if (rules.statuses().contains(head.status())) {
                    of.passed(this);
                } else {
                    of.failed(this, Integer.toString(head.status()));
                }
            }
            judged = true;
            if (isCurrent() && (framing.contentLength() < 0 || framing.contentLength() > READ_BYTES_MAX)) {
                of.cancel();
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
            if (isTelling() && failure.beforeHead() && !isOfThisSide(failure.reason())) {
                of.failed(this, failure.reason().text());
            }
            ended();
        }

        private void ended() {
            judged = true;
            if (isCurrent()) {
                of.current = null;
            }
        }

        private static boolean isOfThisSide(OriginFailure.Reason reason) {
            return reason == OriginFailure.Reason.CANCELLED || reason == OriginFailure.Reason.INTERNAL;
        }
    }
}
