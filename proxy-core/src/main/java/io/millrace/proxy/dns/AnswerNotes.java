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
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What Netty's resolver tells nobody else of the answers to what is being asked: how long their records are good for, and whether a
 * server did not do what it was asked. Stands where the resolver has its cache, and holds no address.
 *
 * <p>Confined to one event loop.
 */
final class AnswerNotes implements DnsCache, DnsCnameCache, DnsQueryLifecycleObserverFactory {
    private final Map<String, Long> seconds = new HashMap<>();
    private final Map<String, Alias> aliases = new HashMap<>();
    private final Set<String> unserved = new HashSet<>();

    /** Another name for a name, and for how long. */
    private record Alias(String of, long seconds) {}

    /** Notes what became of one query. */
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

    /** Whether a server answered that it will or can not say; forgets it. */
    boolean takeUnserved(String name) {
        return unserved.removeIf(asked -> isFor(name, asked));
    }

    private static boolean isFor(String name, String asked) {
        return asked.startsWith(name) && (asked.length() == name.length() || asked.charAt(name.length()) == '.');
    }

    /** The shortest time to live among the records for a name, with a search domain or without, aliases included, in seconds; 0 when there were none. */
    long takeSeconds(String name) {
        long shortest = Long.MAX_VALUE;
        for (Iterator<Map.Entry<String, Long>> each = seconds.entrySet().iterator(); each.hasNext(); ) {
            Map.Entry<String, Long> entry = each.next();
            if (isFor(name, entry.getKey())) {
                shortest = Math.min(shortest, entry.getValue());
                each.remove();
            }
        }
        for (String owner : List.copyOf(aliases.keySet())) {
            if (isFor(name, owner)) {
                shortest = Math.min(shortest, takeAliases(owner));
            }
        }
        return shortest == Long.MAX_VALUE ? 0 : shortest;
    }

    /** The shortest in the chain of aliases that begins there. */
    private long takeAliases(String owner) {
        long shortest = Long.MAX_VALUE;
        Alias next = aliases.remove(owner);
        while (next != null) {
            shortest = Math.min(shortest, next.seconds());
            next = aliases.remove(next.of());
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
