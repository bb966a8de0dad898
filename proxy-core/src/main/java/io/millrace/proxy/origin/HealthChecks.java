package io.millrace.proxy.origin;

import io.millrace.proxy.config.OriginGroupConfig;
import io.millrace.proxy.fetch.FetchSettings;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.ResponseFraming;
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

    private void tick() {
        long nowMillis = clockMillis.getAsLong();
        IdentityHashMap<OriginHost, Check> now = new IdentityHashMap<>();
        for (OriginGroup group : groups.all()) {
            OriginGroupConfig.HealthCheck rules = group.config().healthCheck();
            if (rules != null) {
                for (OriginHost host : group.hosts()) {
                    Check known = checks.remove(host);
                    Check check = known == null ? new Check(host, nowMillis + spread(rules)) : known;
                    now.put(host, check);
                    check.runIfDue(group, rules, nowMillis);
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
    private final class Check implements OriginResponseHandler {
        private final OriginHost host;
        private long dueMillis;
        private int passed;
        private int failed;
        /** The host's term when the check began. */
        private int term;
        /** That of the checks which passed. */
        private int passedTerm = -1;

        private @Nullable OriginCall call;
        private @Nullable OriginGroup group;

        Check(OriginHost host, long dueMillis) {
            this.host = host;
            this.dueMillis = dueMillis;
        }

        /** A clock that was set back makes the next check at most one interval late. */
        void runIfDue(OriginGroup of, OriginGroupConfig.HealthCheck rules, long nowMillis) {
            dueMillis = Math.min(dueMillis, nowMillis + rules.intervalMillis() * 2);
            if (call == null && nowMillis >= dueMillis) {
                dueMillis = nowMillis + next(rules);
                group = of;
                term = host.health().term();
                call = client.fetch(request(rules), this);
            }
        }

        private OriginRequest request(OriginGroupConfig.HealthCheck rules) {
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
                            .keepAlive(false)
                            .build());
            if (name != null) {
                request.tlsName(name);
            }
            return request.build();
        }

        void cancel() {
            if (call != null) {
                call.cancel();
                call = null;
            }
        }

        @Override
        public void onHead(ResponseHead head, ResponseFraming framing) {
            OriginGroupConfig.HealthCheck rules = rules();
            if (rules != null && rules.statuses().contains(head.status())) {
                passed(rules);
            } else {
                failed(rules, Integer.toString(head.status()));
            }
            if (framing.contentLength() < 0 || framing.contentLength() > READ_BYTES_MAX) {
                cancel();
            }
        }

        @Override
        public void onContent(ByteBuf content) {
            content.release();
        }

        @Override
        public void onComplete(@Nullable FieldSection trailers) {
            call = null;
        }

        @Override
        public void onFailure(OriginFailure failure) {
            call = null;
            if (failure.beforeHead() && failure.reason() != OriginFailure.Reason.CANCELLED) {
                failed(rules(), failure.reason().text());
            }
        }

        private OriginGroupConfig.@Nullable HealthCheck rules() {
            return group == null ? null : group.config().healthCheck();
        }

        /** One that began before the host went down or came back says nothing of it now. */
        private boolean isOfBefore() {
            return host.health().term() != term;
        }

        private void passed(OriginGroupConfig.HealthCheck rules) {
            if (isOfBefore()) {
                return;
            }
            failed = 0;
            passed = passedTerm == term ? passed + 1 : 1;
            passedTerm = term;
            if (passed >= rules.healthy()) {
                host.checkedUp(term, clockMillis.getAsLong());
            }
        }

        private void failed(OriginGroupConfig.@Nullable HealthCheck rules, String why) {
            if (isOfBefore()) {
                return;
            }
            passed = 0;
            failed++;
            OriginGroup of = group;
            if (rules != null && of != null && failed >= rules.unhealthy()) {
                host.checkedDown(
                        "health-check " + why,
                        clockMillis.getAsLong(),
                        of.config().markdown());
            }
        }
    }
}
