package io.millrace.proxy.dns;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DefaultDnsRecordDecoder;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRawRecord;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.resolver.HostsFileEntriesResolver;
import io.netty.resolver.NameResolver;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.resolver.dns.DnsErrorCauseException;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.NoopAuthoritativeDnsServerCache;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A DNS client for addresses and SRV records, without a cache.
 *
 * <p>Not thread-safe; confined to one event loop.
 */
public final class NameLookup {
    /** Limit of UDP answers in bytes. Each query announces this limit; longer answers are sent by TCP. */
    private static final int PAYLOAD_BYTES_MAX = 1_232;

    /** Limit of SRV records per name. */
    private static final int SERVICES_MAX = 64;

    private static final HostsFileEntriesResolver NO_FILE = (host, types) -> null;

    /** Length of an SRV record before its target: priority, weight and port. */
    private static final int SERVICE_FIXED_BYTES = 6;

    private final NameResolver<InetAddress> resolver;
    /** The resolver, if it queries name servers; otherwise null. */
    private final @Nullable DnsNameResolver servers;

    private final @Nullable AnswerNotes notes;
    private int queriesInProgress;
    private boolean closesWhenUnused;

    private NameLookup(
            NameResolver<InetAddress> resolver, @Nullable DnsNameResolver servers, @Nullable AnswerNotes notes) {
        this.resolver = resolver;
        this.servers = servers;
        this.notes = notes;
    }

    /** Creates lookups from settings. */
    public interface Factory {
        NameLookup open(DnsSettings settings);
    }

    /** Receives addresses, and the shortest time to live of their records. */
    interface Found {
        void found(List<InetAddress> addresses, long ttlNanos);
    }

    /** Receives SRV records, at least one, and their shortest time to live. */
    interface ServicesFound {
        void found(List<ServiceTarget> targets, long ttlNanos);
    }

    /** Receives the reason of a failure. */
    interface NotFound {
        /** @param isAnswer whether a name server gave a negative answer. False if no name server responded */
        void notFound(Throwable cause, boolean isAnswer);
    }

    /**
     * Returns a lookup that uses a resolver. Its results have the time to live 0. Closing the lookup closes the
     * resolver.
     */
    public static NameLookup ofResolver(NameResolver<InetAddress> resolver) {
        return new NameLookup(resolver, null, null);
    }

    /** Returns a lookup that queries name servers by UDP, and by TCP for answers that do not fit. */
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
        DnsNameResolver servers = builder.build();
        return new NameLookup(servers, servers, notes);
    }

    /** Queries the addresses of a name. Calls exactly one of the receivers on the event loop. */
    void query(String name, Found found, NotFound notFound) {
        queriesInProgress++;
        if (notes != null) {
            notes.begin(name);
        }
        resolver.resolveAll(name).addListener((Future<List<InetAddress>> future) -> {
            queriesInProgress--;
            if (notes != null) {
                notes.end(name);
            }
            long ttlNanos = notes == null ? 0 : TimeUnit.SECONDS.toNanos(notes.takeTtlSeconds(name));
            boolean serverError = notes != null && notes.takeServerError(name);
            if (queriesInProgress == 0) {
                idle();
            }
            if (future.isSuccess()) {
                found.found(future.getNow(), ttlNanos);
            } else {
                notFound.notFound(future.cause(), !serverError && isNegativeAnswer(future.cause()));
            }
        });
    }

    /** Queries the SRV records of exactly this name. */
    void queryServices(String name, ServicesFound found, NotFound notFound) {
        if (servers == null || notes == null) {
            notFound.notFound(new UnknownHostException(name + ": no name servers are configured"), true);
            return;
        }
        DnsQuestion question;
        try {
            question = new DefaultDnsQuestion(name + ".", DnsRecordType.SRV);
        } catch (IllegalArgumentException e) {
            notFound.notFound(e, true);
            return;
        }
        queriesInProgress++;
        notes.begin(name);
        servers.resolveAll(question).addListener((Future<List<DnsRecord>> future) -> {
            queriesInProgress--;
            notes.end(name);
            boolean serverError = notes.takeServerError(name);
            if (queriesInProgress == 0) {
                idle();
            }
            if (future.isSuccess()) {
                report(name, future.getNow(), found, notFound);
            } else {
                notFound.notFound(future.cause(), !serverError && isNegativeAnswer(future.cause()));
            }
        });
    }

    private static void report(String name, List<DnsRecord> records, ServicesFound found, NotFound notFound) {
        List<ServiceTarget> targets = new ArrayList<>();
        long ttlSeconds = Long.MAX_VALUE;
        for (DnsRecord record : records) {
            ServiceTarget target = record instanceof DnsRawRecord raw ? target(raw) : null;
            if (target != null && targets.size() < SERVICES_MAX) {
                targets.add(target);
                ttlSeconds = Math.min(ttlSeconds, record.timeToLive());
            }
            ReferenceCountUtil.release(record);
        }
        if (targets.isEmpty()) {
            notFound.notFound(new UnknownHostException(name + ": the name has no service record"), true);
        } else {
            found.found(List.copyOf(targets), TimeUnit.SECONDS.toNanos(ttlSeconds));
        }
    }

    /** Parses an SRV record; null if the record is of another type or malformed. */
    private static @Nullable ServiceTarget target(DnsRawRecord record) {
        ByteBuf content = record.content();
        if (!record.type().equals(DnsRecordType.SRV) || content.readableBytes() <= SERVICE_FIXED_BYTES) {
            return null;
        }
        try {
            int priority = content.readUnsignedShort();
            int weight = content.readUnsignedShort();
            int port = content.readUnsignedShort();
            String host = DefaultDnsRecordDecoder.decodeName(content).toLowerCase(Locale.ROOT);
            return new ServiceTarget(priority, weight, port, host.substring(0, host.length() - 1));
        } catch (CorruptedFrameException | IndexOutOfBoundsException e) {
            return null;
        }
    }

    /** Called when no query is in progress. */
    private void idle() {
        if (notes != null) {
            // Removes the notes on answers that arrived after their name was resolved.
            notes.clear();
        }
        if (closesWhenUnused) {
            close();
        }
    }

    /** Returns true if a name server gave a negative answer: no such name, or no address. */
    private static boolean isNegativeAnswer(Throwable failure) {
        if (!(failure instanceof UnknownHostException)) {
            return false;
        }
        Throwable cause = failure.getCause();
        return cause == null
                || (cause instanceof DnsErrorCauseException error
                        && error.getCode().equals(DnsResponseCode.NXDOMAIN));
    }

    /** Closes the lookup when the queries in progress have ended. */
    void closeWhenUnused() {
        closesWhenUnused = true;
        if (queriesInProgress == 0) {
            close();
        }
    }

    /** Closes the lookup now; queries in progress fail. */
    void close() {
        resolver.close();
    }
}
