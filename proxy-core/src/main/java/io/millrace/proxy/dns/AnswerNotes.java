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
 * What Netty's resolver tells nobody else of the answers to what is being asked: how long their records are good for, and whether a
 * server did not do what it was asked. Stands where the resolver has its cache, and holds no address.
 *
 * <p>Confined to one event loop.
 */
final class AnswerNotes implements DnsCache, DnsCnameCache, DnsQueryLifecycleObserverFactory {
    /** More are forgotten while names are being asked for, as all are when none is. */
    private static final int ALIASES_MAX = 1000;

    /** Longer than any that the resolver follows. */
    private static final int CHAIN_MAX = 32;

    /** Names that are being asked for, with a dot at the end, and how often. */
    private final Map<String, Integer> asking = new HashMap<>();

    private final Map<String, Long> seconds = new HashMap<>();
    private final Map<String, Alias> aliases = new HashMap<>();
    private final Set<String> unserved = new HashSet<>();

    /** Another name for a name, and for how long. */
    private record Alias(String of, long seconds) {}

    /** Records the outcome of one query. */
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

    /** A name begins to be asked for; ends with {@link #end}. */
    void begin(String name) {
        asking.merge(name + ".", 1, Integer::sum);
    }

    /** It is no longer asked for. */
    void end(String name) {
        asking.computeIfPresent(name + ".", (asked, times) -> times == 1 ? null : times - 1);
    }

    /** Whether a server answered that it will or can not say; forgets it. */
    boolean takeUnserved(String name) {
        boolean found = unserved.stream().anyMatch(asked -> isFor(name, asked));
        unserved.removeIf(asked -> isOnlyFor(name, asked));
        return found;
    }

    /** Whether a name leads to what was asked, as it is or with a search domain behind it. */
    private static boolean isFor(String name, String asked) {
        return asked.startsWith(name) && (asked.length() == name.length() || asked.charAt(name.length()) == '.');
    }

    /** Whether nobody else asks for just that. */
    private boolean isOnlyFor(String name, String asked) {
        boolean isItself = asked.length() <= name.length() + 1;
        return isFor(name, asked) && (isItself || !asking.containsKey(asked));
    }

    /**
     * The shortest time to live among the records for a name, aliases included, in seconds; 0 when there were none. Those of the name as it is
     * are the answer where there are some; others were found with a search domain, and stay where somebody else asks for just that.
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

    /** The shortest in the chain of aliases that begins there; the others of the chain stay, as more names may lead to them. */
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
