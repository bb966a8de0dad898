package io.millrace.proxy.dns;

import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsCacheEntry;
import io.netty.resolver.dns.DnsCnameCache;
import io.netty.resolver.dns.DnsQueryLifecycleObserver;
import io.netty.resolver.dns.DnsQueryLifecycleObserverFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Collects the times to live and server errors of DNS answers. Netty's resolver reports these only to its caches and
 * query observers. This class is installed in their place and stores no addresses.
 *
 * <p>Not thread-safe; confined to one event loop.
 */
final class AnswerNotes implements DnsCache, DnsCnameCache, DnsQueryLifecycleObserverFactory {
    /** Limit of stored aliases while queries are in progress. When no query is in progress, all aliases are removed. */
    private static final int ALIASES_MAX = 1000;

    /** Limit of aliases that are followed from one name. It is above the limit of the resolver. */
    private static final int CHAIN_MAX = 32;

    /** The number of queries in progress for each name. The names have a trailing dot. */
    private final Map<String, Integer> queriesInProgress = new HashMap<>();

    private final Map<String, Long> ttlSeconds = new HashMap<>();
    private final Map<String, Alias> aliases = new HashMap<>();
    private final Set<String> serverErrors = new HashSet<>();

    /** An alias (CNAME) with its time to live. */
    private record Alias(String target, long ttlSeconds) {}

    /** Notes the result of one query. */
    private final class Observer implements DnsQueryLifecycleObserver {
        private final String name;

        Observer(String name) {
            this.name = name;
        }

        @Override
        public void queryWritten(InetSocketAddress server, ChannelFuture future) {}

        @Override
        public void queryCancelled(int queriesRemaining) {}

        @Override
        public DnsQueryLifecycleObserver queryRedirected(List<InetSocketAddress> servers) {
            return this;
        }

        @Override
        public DnsQueryLifecycleObserver queryCNAMEd(DnsQuestion question) {
            return this;
        }

        @Override
        public DnsQueryLifecycleObserver queryNoAnswer(DnsResponseCode code) {
            if (!code.equals(DnsResponseCode.NOERROR) && !code.equals(DnsResponseCode.NXDOMAIN)) {
                serverErrors.add(name);
            }
            return this;
        }

        @Override
        public void queryFailed(Throwable cause) {}

        @Override
        public void querySucceed() {}
    }

    @Override
    public DnsQueryLifecycleObserver newDnsQueryLifecycleObserver(DnsQuestion question) {
        return new Observer(question.name());
    }

    /** Records the start of a query for a name; {@link #end} must follow. */
    void begin(String name) {
        queriesInProgress.merge(name + ".", 1, Integer::sum);
    }

    /** Records the end of a query for a name. */
    void end(String name) {
        queriesInProgress.computeIfPresent(name + ".", (queried, times) -> times == 1 ? null : times - 1);
    }

    /**
     * Returns true if a server has answered a query for the name with an error other than NXDOMAIN. Also forgets this
     * error.
     */
    boolean takeServerError(String name) {
        boolean found = serverErrors.stream().anyMatch(queried -> isFor(name, queried));
        serverErrors.removeIf(queried -> isOnlyFor(name, queried));
        return found;
    }

    /**
     * Returns true if a lookup of {@code name} can send the query. The query is for the name itself, or for the name
     * with a search domain appended.
     */
    private static boolean isFor(String name, String queried) {
        return queried.startsWith(name) && (queried.length() == name.length() || queried.charAt(name.length()) == '.');
    }

    /** Returns true if the query belongs to a lookup of {@code name} and to no lookup of another name. */
    private boolean isOnlyFor(String name, String queried) {
        boolean isOwnName = queried.length() <= name.length() + 1;
        return isFor(name, queried) && (isOwnName || !queriesInProgress.containsKey(queried));
    }

    /**
     * Returns the shortest time to live among the records of a name, including aliases, in seconds. Returns 0 if there
     * were none. Records of exactly this name take precedence over records that were found with a search domain. The
     * returned times are removed, except those that a lookup of another name still needs.
     */
    long takeTtlSeconds(String name) {
        long own = shortest(queried -> isFor(name, queried) && queried.length() <= name.length() + 1);
        long found = own < Long.MAX_VALUE ? own : shortest(queried -> isFor(name, queried));
        ttlSeconds.keySet().removeIf(queried -> isOnlyFor(name, queried));
        aliases.keySet().removeIf(owner -> isOnlyFor(name, owner));
        if (aliases.size() > ALIASES_MAX) {
            aliases.clear();
        }
        return found == Long.MAX_VALUE ? 0 : found;
    }

    private long shortest(Predicate<String> isIncluded) {
        long shortest = Long.MAX_VALUE;
        for (Map.Entry<String, Long> entry : ttlSeconds.entrySet()) {
            if (isIncluded.test(entry.getKey())) {
                shortest = Math.min(shortest, entry.getValue());
            }
        }
        for (String owner : aliases.keySet()) {
            if (isIncluded.test(owner)) {
                shortest = Math.min(shortest, chainTtlSeconds(owner));
            }
        }
        return shortest;
    }

    /** Returns the shortest time to live in the chain of aliases that begins at {@code owner}. */
    private long chainTtlSeconds(String owner) {
        long shortest = Long.MAX_VALUE;
        Alias next = aliases.get(owner);
        for (int i = 0; next != null && i < CHAIN_MAX; i++) {
            shortest = Math.min(shortest, next.ttlSeconds());
            next = aliases.get(next.target());
        }
        return shortest;
    }

    @Override
    public void cache(String hostname, String alias, long originalTtl, EventLoop loop) {
        aliases.put(hostname, new Alias(alias, originalTtl));
    }

    @Override
    public @Nullable String get(String hostname) {
        return null;
    }

    @Override
    public @Nullable DnsCacheEntry cache(
            String hostname, DnsRecord[] additionals, InetAddress address, long originalTtl, EventLoop loop) {
        ttlSeconds.merge(hostname, originalTtl, Math::min);
        return null;
    }

    @Override
    public @Nullable DnsCacheEntry cache(String hostname, DnsRecord[] additionals, Throwable cause, EventLoop loop) {
        return null;
    }

    @Override
    public @Nullable List<? extends DnsCacheEntry> get(String hostname, DnsRecord[] additionals) {
        return null;
    }

    @Override
    public void clear() {
        ttlSeconds.clear();
        aliases.clear();
        serverErrors.clear();
    }

    @Override
    public boolean clear(String hostname) {
        boolean isAlias = aliases.remove(hostname) != null;
        return ttlSeconds.remove(hostname) != null || isAlias;
    }
}
