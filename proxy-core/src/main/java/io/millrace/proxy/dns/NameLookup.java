package io.millrace.proxy.dns;

import io.netty.channel.EventLoop;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.HostsFileEntriesResolver;
import io.netty.resolver.NameResolver;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsErrorCauseException;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.NoopAuthoritativeDnsServerCache;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Asks for the addresses of hosts, and remembers nothing.
 *
 * <p>Confined to one event loop.
 */
public final class NameLookup {
    /** Longest answer by UDP, in bytes, that name servers are told to send; a longer one comes by TCP. */
    private static final int PAYLOAD_BYTES_MAX = 1_232;

    private static final HostsFileEntriesResolver NO_FILE = (host, types) -> null;

    private final NameResolver<InetAddress> resolver;
    private final @Nullable AnswerNotes notes;
    private int asked;
    private boolean retired;

    private NameLookup(NameResolver<InetAddress> resolver, @Nullable AnswerNotes notes) {
        this.resolver = resolver;
        this.notes = notes;
    }

    /** Makes what asks as the settings say. */
    public interface Factory {
        NameLookup open(DnsSettings settings);
    }

    /** Takes addresses, and how long they are good for by the shortest of their records. */
    interface Found {
        void found(List<InetAddress> addresses, long ttlNanos);
    }

    /** Takes why there are none. */
    interface NotFound {
        /** @param isAnswer whether a name server said so, and not that nobody could be asked */
        void notFound(Throwable cause, boolean isAnswer);
    }

    /** Asks a resolver that does not tell how long its answers are good for; closed with what is made. */
    public static NameLookup by(NameResolver<InetAddress> resolver) {
        return new NameLookup(resolver, null);
    }

    /** Asks name servers, by UDP and, where an answer does not fit, by TCP. */
    public static NameLookup byDns(
            EventLoop eventLoop,
            Class<? extends DatagramChannel> datagrams,
            Class<? extends SocketChannel> streams,
            DnsSettings settings) {
        AnswerNotes notes = new AnswerNotes();
        DnsNameResolverBuilder builder = new DnsNameResolverBuilder(eventLoop)
                .datagramChannelType(datagrams)
                .socketChannelType(streams)
                .resolvedAddressTypes(
                        settings.prefersIpv6()
                                ? ResolvedAddressTypes.IPV6_PREFERRED
                                : ResolvedAddressTypes.IPV4_PREFERRED)
                .maxPayloadSize(PAYLOAD_BYTES_MAX)
                .queryTimeoutMillis(TimeUnit.NANOSECONDS.toMillis(settings.queryTimeoutNanos()))
                .hostsFileEntriesResolver(NO_FILE)
                .resolveCache(notes)
                .dnsQueryLifecycleObserverFactory(notes)
                .cnameCache(notes)
                .authoritativeDnsServerCache(NoopAuthoritativeDnsServerCache.INSTANCE)
                .nameServerProvider(new ZoneServers(settings));
        if (!settings.nameServers().isEmpty()) {
            builder.searchDomains(List.of());
        }
        return new NameLookup(builder.build(), notes);
    }

    void ask(String name, Found found, NotFound notFound) {
        asked++;
        if (notes != null) {
            notes.begin(name);
        }
        resolver.resolveAll(name).addListener((Future<List<InetAddress>> future) -> {
            asked--;
            if (notes != null) {
                notes.end(name);
            }
            long ttlNanos = notes == null ? 0 : TimeUnit.SECONDS.toNanos(notes.takeSeconds(name));
            boolean unserved = notes != null && notes.takeUnserved(name);
            if (asked == 0) {
                idle();
            }
            if (future.isSuccess()) {
                found.found(future.getNow(), ttlNanos);
            } else {
                notFound.notFound(future.cause(), !unserved && isRefusal(future.cause()));
            }
        });
    }

    private void idle() {
        if (notes != null) {
            // Of answers that came after the name was resolved.
            notes.clear();
        }
        if (retired) {
            close();
        }
    }

    /** Whether a name server said that there is no such name or no address, and not that nobody answered. */
    private static boolean isRefusal(Throwable failure) {
        if (!(failure instanceof UnknownHostException)) {
            return false;
        }
        Throwable cause = failure.getCause();
        return cause == null
                || (cause instanceof DnsErrorCauseException error
                        && error.getCode().equals(DnsResponseCode.NXDOMAIN));
    }

    /** Closes when what is asked now is answered. */
    void closeWhenUnused() {
        retired = true;
        if (asked == 0) {
            close();
        }
    }

    /** Closes now; what is asked fails. */
    void close() {
        resolver.close();
    }
}
