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
import org.jspecify.annotations.Nullable;

/**
 * A cache of SRV records (RFC 2782). Answers are cached for their time to live within limits, and longer while no name
 * server responds. Negative answers are cached too. Concurrent requests for a name share one query.
 *
 * <p>Not thread-safe; confined to one event loop.
 */
final class ServiceRecords {
    private final EventLoop eventLoop;
    private final SplittableRandom random;
    private final Map<String, CachedAnswer> cache;
    private final Map<String, List<Promise<List<ServiceTarget>>>> queries = new HashMap<>();
    private DnsSettings settings;

    /** A cached answer, its expiry, and the end of its use while no name server responds. */
    private record CachedAnswer(List<ServiceTarget> targets, long freshUntilNanos, long staleUntilNanos) {}

    ServiceRecords(EventLoop eventLoop, DnsSettings settings, SplittableRandom random) {
        this.eventLoop = eventLoop;
        this.settings = settings;
        this.random = random;
        cache = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, CachedAnswer> eldest) {
                return size() > ServiceRecords.this.settings.hostsMax();
            }
        };
    }

    /** Applies new settings and clears the cache. Queries in progress still answer their callers. */
    void applySettings(DnsSettings latest) {
        settings = latest;
        cache.clear();
        queries.clear();
    }

    /** Forgets the records of a host name in lower case; of all names if null. Queries in progress continue. */
    void forget(@Nullable String host) {
        if (host == null) {
            cache.clear();
        } else {
            // The name of a record is _SERVICE._tcp.HOST.
            cache.keySet().removeIf(name -> name.endsWith("._tcp." + host));
        }
    }

    /**
     * Returns the targets of a service in the order to be tried. The result is empty if the name has no SRV record, or
     * no name server responded.
     *
     * @param name name of the record, for example {@code _http._tcp.example.com}
     */
    Future<List<ServiceTarget>> find(String name, NameLookup lookup) {
        CachedAnswer found = cache.get(name);
        if (found != null && now() - found.freshUntilNanos < 0) {
            return eventLoop.newSucceededFuture(ServiceTarget.inTryOrder(found.targets, random));
        }
        if (queries.size() >= settings.queriesMax() && !queries.containsKey(name)) {
            return eventLoop.newSucceededFuture(List.of());
        }
        Promise<List<ServiceTarget>> promise = eventLoop.newPromise();
        List<Promise<List<ServiceTarget>>> others = queries.get(name);
        if (others != null) {
            others.add(promise);
            return promise;
        }
        List<Promise<List<ServiceTarget>>> waiting = new ArrayList<>(1);
        waiting.add(promise);
        queries.put(name, waiting);
        lookup.queryServices(
                name,
                (targets, ttlNanos) -> answered(name, waiting, targets, ttlNanos),
                (cause, isAnswer) -> notFound(name, waiting, isAnswer));
        return promise;
    }

    private void answered(
            String name, List<Promise<List<ServiceTarget>>> waiting, List<ServiceTarget> targets, long ttlNanos) {
        long ttl = Math.min(Math.max(ttlNanos, settings.ttlMinNanos()), settings.ttlMaxNanos());
        end(name, waiting, new CachedAnswer(targets, now() + ttl, now() + ttl + settings.staleMaxNanos()));
    }

    private void notFound(String name, List<Promise<List<ServiceTarget>>> waiting, boolean isAnswer) {
        CachedAnswer before = cache.get(name);
        if (isAnswer) {
            long until = now() + settings.negativeTtlNanos();
            end(name, waiting, new CachedAnswer(List.of(), until, until));
        } else {
            long until = now() + TimeUnit.SECONDS.toNanos(HostAddresses.RECHECK_SECONDS);
            end(
                    name,
                    waiting,
                    before != null && now() - before.staleUntilNanos < 0
                            ? new CachedAnswer(before.targets, until, before.staleUntilNanos)
                            : new CachedAnswer(List.of(), until, until));
        }
    }

    private void end(String name, List<Promise<List<ServiceTarget>>> waiting, CachedAnswer answer) {
        if (queries.remove(name, waiting)) {
            cache.put(name, answer);
        }
        for (Promise<List<ServiceTarget>> each : waiting) {
            each.trySuccess(ServiceTarget.inTryOrder(answer.targets, random));
        }
    }

    private long now() {
        return eventLoop.ticker().nanoTime();
    }
}
