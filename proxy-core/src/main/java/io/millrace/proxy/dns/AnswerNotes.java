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
 * Notes on DNS answers that Netty's resolver reports only to its caches: times to live, and error responses of servers.
 * Installed in place of the resolver's caches; stores no addresses.
 *
 * <p>Not thread-safe; confined to one event loop.
 */
final class AnswerNotes implements DnsCache, DnsCnameCache, DnsQueryLifecycleObserverFactory {
    /** Limit of aliases while queries are in progress; without queries all are removed. */
    private static final int ALIASES_MAX = 1000;

    /** Limit of followed aliases, above that of the resolver. */
    private static final int CHAIN_MAX = 32;

    /** Queried names with a trailing dot, and the number of their queries. */
    private final Map<String, Integer> asking = new HashMap<>();

    private final Map<String, Long> seconds = new HashMap<>();
    private final Map<String, Alias> aliases = new HashMap<>();
    private final Set<String> unserved = new HashSet<>();

    /** An alias (CNAME) with its time to live. */
    private record Alias(String of, long seconds) {}

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
                unserved.add(name);
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
        asking.merge(name + ".", 1, Integer::sum);
    }

    /** Records the end of a query for a name. */
    void end(String name) {
        asking.computeIfPresent(name + ".", (asked, times) -> times == 1 ? null : times - 1);
    }

    /**
     * Returns true if a server has answered a query for the name with an error other than NXDOMAIN. Removes the note.
     */
    boolean takeUnserved(String name) {
        boolean found = unserved.stream().anyMatch(asked -> isFor(name, asked));
        unserved.removeIf(asked -> isOnlyFor(name, asked));
        return found;
    }

    /**
     * Returns true if a name led to the query {@code asked}: it is the name itself, or the name with a search domain.
     */
    private static boolean isFor(String name, String asked) {
        return asked.startsWith(name) && (asked.length() == name.length() || asked.charAt(name.length()) == '.');
    }

    /** Returns true if no other lookup is for exactly the name {@code asked}. */
    private boolean isOnlyFor(String name, String asked) {
        boolean isItself = asked.length() <= name.length() + 1;
        return isFor(name, asked) && (isItself || !asking.containsKey(asked));
    }

    /**
     * Returns the shortest time to live among the records of a name, including aliases, in seconds; 0 if there were
     * none. If the name itself has records, only they count. Otherwise the records were found with a search domain.
     * They are kept if another lookup queries that name.
     */
    long takeSeconds(String name) {
        long itself = shortest(asked -> isFor(name, asked) && asked.length() <= name.length() + 1);
        long found = itself < Long.MAX_VALUE ? itself : shortest(asked -> isFor(name, asked));
        seconds.keySet().removeIf(asked -> isOnlyFor(name, asked));
        aliases.keySet().removeIf(owner -> isOnlyFor(name, owner));
        if (aliases.size() > ALIASES_MAX) {
            aliases.clear();
        }
        return found == Long.MAX_VALUE ? 0 : found;
    }

    private long shortest(Predicate<String> isMeant) {
        long shortest = Long.MAX_VALUE;
        for (Map.Entry<String, Long> entry : seconds.entrySet()) {
            if (isMeant.test(entry.getKey())) {
                shortest = Math.min(shortest, entry.getValue());
            }
        }
        for (String owner : aliases.keySet()) {
            if (isMeant.test(owner)) {
                shortest = Math.min(shortest, chain(owner));
            }
        }
        return shortest;
    }

    /**
     * Returns the shortest time to live in the alias chain that begins at {@code owner}. The rest of the chain is kept,
     * since other names may lead to it.
     */
    private long chain(String owner) {
        long shortest = Long.MAX_VALUE;
        Alias next = aliases.get(owner);
        for (int i = 0; next != null && i < CHAIN_MAX; i++) {
            shortest = Math.min(shortest, next.seconds());
            next = aliases.get(next.of());
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
        seconds.merge(hostname, originalTtl, Math::min);
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
        seconds.clear();
        aliases.clear();
        unserved.clear();
    }

    @Override
    public boolean clear(String hostname) {
        boolean isAlias = aliases.remove(hostname) != null;
        return seconds.remove(hostname) != null || isAlias;
    }
}
