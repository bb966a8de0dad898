package io.millrace.proxy.server;

import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.millrace.proxy.dns.DnsSettings;
import io.millrace.proxy.dns.DnsStatistics;
import io.millrace.proxy.exchange.ExchangeLoop;
import io.millrace.proxy.fetch.ConnectionTotals;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.fetch.OriginFaults;
import io.millrace.proxy.fetch.OriginStatistics;
import io.millrace.proxy.fetch.tls.OriginTlsContexts;
import io.millrace.proxy.http1.FastLane;
import io.millrace.proxy.http1.Http1Pipeline;
import io.millrace.proxy.http1.Http1Settings;
import io.millrace.proxy.http1.TlsFastLane;
import io.millrace.proxy.http2.Http2Loop;
import io.millrace.proxy.http2.Http2Settings;
import io.millrace.proxy.memory.LoopMemory;
import io.millrace.proxy.memory.ReceiveBuffers;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.CountedReads;
import io.millrace.proxy.net.Listener;
import io.millrace.proxy.net.protocol.AlpnChoice;
import io.millrace.proxy.net.protocol.PrefaceChoice;
import io.millrace.proxy.net.protocol.ProxyHeaderDecoder;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.observe.log.live.LoopLogs;
import io.millrace.proxy.tls.ListenerTls;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One event loop with its components. These are client connections, origin connections, counters, log ring and
 * exchanges (the objects that process requests).
 *
 * <p>Confined to its event loop after {@link #start}.
 */
public final class ServingLoop {
    /** Interval at which the statistics of origin connections are copied to the counters of metrics. */
    private static final long PUBLISH_MILLIS = 1000;
    /**
     * Minimum interval of searches for slow clients that occupy an origin connection. The searches run while other
     * requests wait for a connection.
     */
    private static final long RELIEF_MILLIS = 50;

    /**
     * The memory budget and the limits that the event loops share.
     *
     * @param totals counts the connections of all event loops to each origin
     * @param loops number of event loops
     * @param rateMin minimum receive rate of a client in bytes per second, 0 for none; read at each use
     */
    public record Memory(ConnectionMemory shared, ConnectionTotals totals, int loops, LongSupplier rateMin) {}

    private final EventLoop loop;
    private final ByteBufAllocator allocator;
    private final LoopCounters counters;
    private final OriginClient origins;
    private final ConnectionSet connections;
    private final ExchangeLoop exchanges;
    private final Supplier<Http1Settings> http1;
    private final Supplier<Boolean> fastLaneOpen;
    private final @Nullable FastLane fastLane;
    private final TlsFastLane tlsFastLane;
    private final CountedReads channelReads;
    private final Http2Loop http2;
    private final ConnectionMemory budget;
    private final LoopMemory memory;
    /** True while a search for slow clients is scheduled. */
    private boolean closingSlow;
    /** Time of the last search for slow clients. */
    private long closedSlowNanos = System.nanoTime();

    private @Nullable Future<?> publishing;

    public ServingLoop(
            EventLoop loop,
            ByteBufAllocator allocator,
            LoopCounters counters,
            LoopLogs logs,
            ExchangeLoop.Shared shared,
            OriginTlsContexts originTls,
            OriginFaults originFaults,
            Supplier<DnsSettings> dns,
            Supplier<Http1Settings> http1,
            Supplier<Http2Settings> http2Settings,
            ConnectionLimit limit,
            Supplier<Boolean> fastLaneOpen,
            boolean hasPlainSockets,
            Memory memory) {
        this.loop = loop;
        this.allocator = allocator;
        this.counters = counters;
        this.budget = memory.shared();
        this.memory = new LoopMemory(memory.shared().budget(), System::nanoTime, loop);
        this.connections = new ConnectionSet(
                loop,
                limit::ofLoop,
                () -> {
                    counters.increment(Counter.CLIENT_CONNECTIONS_REFUSED_LIMIT);
                    limit.refused();
                },
                new CountedConnections(
                        shared.clients(), () -> shared.settings().get().clients(), counters));
        this.origins = OriginClient.builder(loop)
                .allocator(allocator)
                .dns(dns)
                .tls(originTls)
                .faults(originFaults)
                .receiveBuffers(
                        new ReceiveBuffers(this.memory, bytes -> counters.add(Counter.ORIGIN_RECEIVED_BYTES, bytes)))
                .onSent(bytes -> counters.add(Counter.ORIGIN_SENT_BYTES, bytes))
                .onWaiting(this::closeSlowSoon)
                .atEndOfIteration(connections::atEndOfIteration)
                .totals(memory.totals())
                .build();
        this.connections.slowClients(new SlowClients(this.memory, memory.loops(), memory.rateMin(), reason -> {
            counters.increment(ConnectionMemory.counterOf(reason));
            memory.shared().onClosed(reason);
        }));
        this.memory.onMemoryFull(() -> loop.execute(connections::closeSlowNow));
        this.exchanges = new ExchangeLoop(loop, shared, origins, counters, logs, this.memory);
        this.http1 = http1;
        this.fastLaneOpen = fastLaneOpen;
        FastLaneCounters laneCounters = new FastLaneCounters(counters);
        this.channelReads = new CountedReads(laneCounters::onReceived);
        this.fastLane = hasPlainSockets
                ? new FastLane(new FastLane.Parts(
                        loop, allocator, http1, fastLaneOpen, exchanges, exchanges, connections, laneCounters))
                : null;
        this.tlsFastLane = new TlsFastLane(loop, allocator, exchanges, laneCounters::onAnswered);
        this.http2 = new Http2Loop(new Http2Loop.Parts(
                loop,
                allocator,
                http2Settings,
                fastLaneOpen,
                exchanges,
                exchanges,
                connections,
                this.memory,
                new Http2Counters(counters, laneCounters::onAnswered)));
    }

    /**
     * Schedules the closing of slow clients. Called if a request waits for an origin connection; runs after the
     * current event. At most once every {@value #RELIEF_MILLIS} ms.
     */
    private void closeSlowSoon() {
        long now = System.nanoTime();
        if (!closingSlow && now - closedSlowNanos >= TimeUnit.MILLISECONDS.toNanos(RELIEF_MILLIS)) {
            closingSlow = true;
            loop.execute(() -> {
                closingSlow = false;
                closedSlowNanos = System.nanoTime();
                connections.closeSlowNow();
            });
        }
    }

    public void start() {
        connections.start();
        publishing = loop.scheduleWithFixedDelay(this::publish, PUBLISH_MILLIS, PUBLISH_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Copies the statistics of the origin client to the counters that a scrape reads. */
    private void publish() {
        budget.refillReserve();
        OriginStatistics now = origins.statistics();
        setCounter(Counter.ORIGIN_CONNECTIONS_ACTIVE, now.connectionsActive());
        setCounter(Counter.ORIGIN_CONNECTIONS_IDLE, now.connectionsIdle());
        setCounter(Counter.ORIGIN_CONNECTIONS_OPENED, now.connects());
        setCounter(Counter.ORIGIN_RETRIES, now.retries());
        setCounter(Counter.ORIGIN_WAITS_EVENT_LOOP, now.waitsOfLoop());
        setCounter(Counter.ORIGIN_WAITS_PROCESS, now.waitsOfProcess());
        setCounter(Counter.ORIGIN_HTTP2_CONNECTIONS, now.http2Connections());
        setCounter(Counter.ORIGIN_HTTP2_CONNECTIONS_OPENED, now.http2Connects());
        setCounter(Counter.ORIGIN_HTTP2_STREAMS, now.http2Streams());
        setCounter(Counter.ORIGIN_HTTP2_REQUESTS, now.http2Requests());
        setCounter(Counter.ORIGIN_HTTP2_NOT_PROCESSED, now.http2NotProcessed());
        DnsStatistics names = origins.dns();
        setCounter(Counter.DNS_LOOKUPS_CACHED, names.cached());
        setCounter(Counter.DNS_LOOKUPS_ANSWERED, names.answered());
        setCounter(Counter.DNS_LOOKUPS_UNKNOWN, names.unknown());
        setCounter(Counter.DNS_LOOKUPS_STALE, names.stale());
        setCounter(Counter.DNS_LOOKUPS_FAILED, names.failed());
    }

    private void setCounter(Counter counter, long to) {
        counters.add(counter, to - counters.value(counter));
    }

    public EventLoop loop() {
        return loop;
    }

    public ExchangeLoop exchanges() {
        return exchanges;
    }

    public LoopCounters counters() {
        return counters;
    }

    public OriginClient origins() {
        return origins;
    }

    public ConnectionSet connections() {
        return connections;
    }

    /**
     * Returns the handlers for accepted connections of a listening address. Without TLS, PROXY headers and HTTP/2,
     * connections start in the fast lane (a short path for RAM hits). Otherwise they are Netty channels.
     *
     * @param http2 whether clients may use HTTP/2
     * @param transparency whether the address serves a transparent proxy
     * @param headers returns the current settings of PROXY headers; null if the address accepts none
     */
    public Listener.Serving serving(
            @Nullable ListenerTls tls,
            boolean http2,
            Transparency transparency,
            @Nullable Supplier<ProxyHeaderDecoder.Settings> headers) {
        return new Listener.Serving(
                initializer(tls, http2, transparency, headers),
                tls == null && headers == null && !http2 ? fastLane : null,
                transparency);
    }

    /**
     * Returns the setup of an accepted connection. First comes the PROXY header if permitted, then TLS if
     * configured, then HTTP.
     */
    private ChannelInitializer<Channel> initializer(
            @Nullable ListenerTls tls,
            boolean withHttp2,
            Transparency transparency,
            @Nullable Supplier<ProxyHeaderDecoder.Settings> headers) {
        AnnouncedClients announced = new AnnouncedClients(
                counters,
                (channel, client, secure) -> serve(
                        channel,
                        tls,
                        withHttp2,
                        ClientConnection.of(channel, client, tls != null, secure)
                                .transparency(transparency)));
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.config().setOption(ChannelOption.ALLOCATOR, allocator);
                channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
                channel.config().setRecvByteBufAllocator(channelReads);
                counters.increment(Counter.CLIENT_CONNECTIONS);
                counters.increment(Counter.CLIENT_CONNECTIONS_OPENED);
                channel.closeFuture().addListener(closed -> counters.decrement(Counter.CLIENT_CONNECTIONS));
                if (headers != null) {
                    channel.pipeline().addLast(new ProxyHeaderDecoder(headers, connections, announced));
                    return;
                }
                if (tls != null || withHttp2 || transparency != Transparency.OFF) {
                    // The TLS handler is added later, when the client has sent a host name, so the pipeline cannot be
                    // inspected for TLS.
                    serve(
                            channel,
                            tls,
                            withHttp2,
                            ClientConnection.of(channel, null, tls != null, false)
                                    .transparency(transparency));
                    return;
                }
                Http1Pipeline.install(channel, http1, exchanges, connections, null);
            }
        };
    }

    /** Serves a connection, after its PROXY header if there is one. */
    private void serve(Channel channel, @Nullable ListenerTls tls, boolean withHttp2, ClientConnection connection) {
        if (tls != null) {
            channel.pipeline().addLast(tls.newHandler(allocator, new CountedHandshakes(counters, connection)));
            if (withHttp2) {
                channel.pipeline()
                        .addLast(new AlpnChoice(
                                connections, connection, this::headerTimeoutNanos, this::serveSecureHttp1, http2));
            } else {
                serveSecureHttp1(channel, connection);
            }
        } else if (withHttp2) {
            channel.pipeline()
                    .addLast(new PrefaceChoice(
                            connections, connection, this::headerTimeoutNanos, this::servePlainHttp1, http2));
        } else {
            servePlainHttp1(channel, connection);
        }
    }

    private long headerTimeoutNanos() {
        return http1.get().headerTimeoutNanos();
    }

    private void serveSecureHttp1(Channel channel, ClientConnection connection) {
        TlsFastLane lane = fastLaneOpen.get() ? tlsFastLane : null;
        Http1Pipeline.install(channel, connection, http1, exchanges, connections, lane);
    }

    private void servePlainHttp1(Channel channel, ClientConnection connection) {
        if (fastLane != null) {
            fastLane.serve(channel, connection);
        } else {
            Http1Pipeline.install(channel, connection, http1, exchanges, connections, null);
        }
    }

    /** Closes all components of this loop. Call on the event loop. */
    public void close() {
        if (publishing != null) {
            publishing.cancel(false);
        }
        connections.close();
        if (fastLane != null) {
            fastLane.close();
        }
        origins.close();
        exchanges.close();
    }
}
