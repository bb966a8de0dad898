package io.millrace.proxy.dns;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * A cache of SRV records (RFC 2782). As for addresses, answers are cached for their time to live within limits, longer
 * while no name server responds; negative answers are cached too. Concurrent requests for a name share one query.
 *
 * <p>Not thread-safe; confined to one event loop.
 */
final class ServiceRecords {
    private final EventLoop eventLoop;
    private final SplittableRandom random;
    private final Map<String, Known> known;
    private final Map<String, List<Promise<List<ServiceTarget>>>> asked = new HashMap<>();
    private DnsSettings settings;

    /** A cached answer, its expiry, and the end of its use while no name server responds. */
    private record Known(List<ServiceTarget> targets, long freshUntilNanos, long staleUntilNanos) {}

    ServiceRecords(EventLoop eventLoop, DnsSettings settings, SplittableRandom random) {
        this.eventLoop = eventLoop;
        this.settings = settings;
        this.random = random;
        known = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
                return size() > ServiceRecords.this.settings.hostsMax();
            }
        };
    }

    /** Applies other settings: later lookups query again. Queries in progress still answer their callers. */
    void follow(DnsSettings now) {
        settings = now;
        known.clear();
        asked.clear();
    }

    /**
     * Returns the targets of a service in the order to be tried; empty if the name has no SRV record, or no name server
     * responded.
     *
     * @param name name of the record, for example {@code _http._tcp.example.com}
     */
    Future<List<ServiceTarget>> find(String name, NameLookup lookup) {
        Known found = known.get(name);
        if (found != null && now() - found.freshUntilNanos < 0) {
            return eventLoop.newSucceededFuture(ServiceTarget.inTurn(found.targets, random));
        }
        if (asked.size() >= settings.queriesMax() && !asked.containsKey(name)) {
            return eventLoop.newSucceededFuture(List.of());
        }
        Promise<List<ServiceTarget>> promise = eventLoop.newPromise();
        List<Promise<List<ServiceTarget>>> others = asked.get(name);
        if (others != null) {
            others.add(promise);
            return promise;
        }
        List<Promise<List<ServiceTarget>>> waiting = new ArrayList<>(1);
        waiting.add(promise);
        asked.put(name, waiting);
        lookup.askServices(
                name,
                (targets, ttlNanos) -> answered(name, waiting, targets, ttlNanos),
                (cause, isAnswer) -> notFound(name, waiting, isAnswer));
        return promise;
    }

    private void answered(
            String name, List<Promise<List<ServiceTarget>>> waiting, List<ServiceTarget> targets, long ttlNanos) {
        long ttl = Math.min(Math.max(ttlNanos, settings.ttlMinNanos()), settings.ttlMaxNanos());
        end(name, waiting, new Known(targets, now() + ttl, now() + ttl + settings.staleMaxNanos()));
    }

    private void notFound(String name, List<Promise<List<ServiceTarget>>> waiting, boolean isAnswer) {
        Known before = known.get(name);
        if (isAnswer) {
            long until = now() + settings.negativeTtlNanos();
            end(name, waiting, new Known(List.of(), until, until));
        } else {
            long until = now() + TimeUnit.SECONDS.toNanos(HostAddresses.RECHECK_SECONDS);
            end(
                    name,
                    waiting,
                    before != null && now() - before.staleUntilNanos < 0
                            ? new Known(before.targets, until, before.staleUntilNanos)
                            : new Known(List.of(), until, until));
        }
    }

    private void end(String name, List<Promise<List<ServiceTarget>>> waiting, Known now) {
        if (asked.remove(name, waiting)) {
            known.put(name, now);
        }
        for (Promise<List<ServiceTarget>> each : waiting) {
            each.trySuccess(ServiceTarget.inTurn(now.targets, random));
        }
    }

    private long now() {
        return eventLoop.ticker().nanoTime();
    }
}
