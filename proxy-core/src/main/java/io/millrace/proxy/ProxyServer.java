package io.millrace.proxy;

import io.millrace.proxy.access.OwnAddresses;
import io.millrace.proxy.access.SelfDetection;
import io.millrace.proxy.admin.data.CacheInspection;
import io.millrace.proxy.admin.data.CacheListing;
import io.millrace.proxy.admin.data.DataPlaneAdmin;
import io.millrace.proxy.admin.data.OriginAdmin;
import io.millrace.proxy.admin.data.OriginMarks;
import io.millrace.proxy.admin.data.OriginMetrics;
import io.millrace.proxy.admin.data.PurgeAdmin;
import io.millrace.proxy.admin.data.StorageAdmin;
import io.millrace.proxy.admin.data.TlsAdmin;
import io.millrace.proxy.cache.ProxyCache;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StoredHeadCodec;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.config.ConfigChange;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.admin.AdminKeys;
import io.millrace.proxy.config.cache.CompressionConfig;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.geo.GeoKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.exchange.ExchangeLoop;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.extension.ExtensionSet;
import io.millrace.proxy.fetch.ConnectionTotals;
import io.millrace.proxy.fetch.OriginFaults;
import io.millrace.proxy.fetch.tls.OriginTlsContexts;
import io.millrace.proxy.geo.GeoFiles;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.Listener;
import io.millrace.proxy.net.TlsLibrary;
import io.millrace.proxy.net.Transport;
import io.millrace.proxy.net.UnixAddress;
import io.millrace.proxy.net.protocol.ProxyHeaderDecoder;
import io.millrace.proxy.observe.ExtensionMetric;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.OriginMetric;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.observe.log.live.LiveLog;
import io.millrace.proxy.observe.memory.ProcessMemory;
import io.millrace.proxy.origin.FleetMembersFile;
import io.millrace.proxy.origin.HealthChecks;
import io.millrace.proxy.overload.OverloadWatch;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.fleet.FleetOutbox;
import io.millrace.proxy.purge.record.PurgeHistory;
import io.millrace.proxy.purge.sweep.PatternSweeper;
import io.millrace.proxy.server.BufferPool;
import io.millrace.proxy.server.ConnectionLimit;
import io.millrace.proxy.server.ConnectionMemory;
import io.millrace.proxy.server.DiskWatch;
import io.millrace.proxy.server.ExtensionMetrics;
import io.millrace.proxy.server.OriginRecords;
import io.millrace.proxy.server.ProxyMetrics;
import io.millrace.proxy.server.ServerLogs;
import io.millrace.proxy.server.ServingLoop;
import io.millrace.proxy.server.StoreConfigs;
import io.millrace.proxy.spi.PurgeObserver;
import io.millrace.proxy.tls.ListenerTls;
import io.millrace.proxy.tls.ServerTls;
import io.millrace.proxy.tls.TicketKeys;
import io.millrace.store.CacheStore;
import io.millrace.store.engine.StoreEngine;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A caching HTTP proxy, with its event loops, store and listening sockets.
 *
 * <pre>{@code
 * try (ProxyServer proxy = ProxyServer.builder()
 *         .listen("127.0.0.1:0")
 *         .map("/", "http://127.0.0.1:9000")
 *         .start()) {
 *     System.out.println("listening on port " + proxy.port());
 *     ...
 * }
 * }</pre>
 *
 * <p>Lifecycle: build, {@link #start}, any number of {@link #reload}, optionally {@link #drain}, {@link #close}. A JVM
 * may run several proxies; no JVM option is required.
 *
 * <p>Thread-safe, with restrictions: methods that change the state must not be called on the proxy's event loops,
 * and must not run at the same time.
 */
public final class ProxyServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ProxyServer.class);
    /** Shortest time between two log lines of one kind of fault. */
    private static final long FAULT_QUIET_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** Interval at which the machine's own addresses are read, in seconds. */
    private static final long ADDRESSES_SECONDS = 10;

    /** Interval at which changed databases of locations are opened again, in seconds. */
    private static final long LOCATIONS_SECONDS = 10;

    /** Interval at which meters with changing label values are added to the application's registry, in seconds. */
    private static final long METERS_SECONDS = 10;

    /**
     * Rounds of empty tasks over all event loops at close. A task of one loop may submit a task to another. The
     * longest chain has three tasks: the store replies to the loop of a waiting request. That loop calls
     * the loop of the fetch, which replies to it.
     */
    private static final int CLOSING_ROUNDS = 3;

    private final Transport transport;
    private final Map<String, List<Integer>> adopted;
    private final MetricsRegistry metrics;
    private final CacheStore<StoredHead> store;
    private final PurgeHistory purges;
    private final ServerLogs accessLogs;
    private final BufferPool allocator;
    private final ConnectionMemory memory;
    private final MultiThreadIoEventLoopGroup group;
    private final List<ServingLoop> loops = new ArrayList<>();
    private final ExchangeLoop.Shared shared;
    private final List<Listener> listeners = new ArrayList<>();
    private final long startedNanos = System.nanoTime();
    private final OriginMetrics originMetrics;
    private final OwnAddresses ownAddresses = new OwnAddresses();
    private final ExtensionSet extensions;
    private final GeoFiles geo = new GeoFiles();
    private final HealthChecks healthChecks;
    private final PatternSweeper patternSweeper;
    private final OverloadWatch overloadWatch;
    private final DiskWatch diskWatch;
    private final @Nullable OriginRecords originRecords;
    private final OriginAdmin originAdmin;
    private final ServerTls serverTls;
    private final OriginTlsContexts originTls = new OriginTlsContexts();
    private final CacheAccess.Sources cacheSources;
    private final @Nullable DataPlaneAdmin admin;

    /** The configuration with which the proxy was built, for settings that a reload cannot change. */
    private final ProxyConfig built;

    private volatile LiveSettings live;
    private volatile ProxyState state = ProxyState.NEW;

    /**
     * @param extensions closed with the proxy, or by the caller if the constructor fails
     * @param events receives the events of all parts of the proxy, with the limit per minute
     */
    ProxyServer(ProxyServerBuilder builder, ExtensionSet extensions, EventSink events) throws IOException {
        ProxyConfig config = builder.config();
        ServerLogs.checkSinks(config, extensions);
        built = config;
        this.extensions = extensions;
        openLocations(config);
        live = LiveSettings.of(
                config,
                config,
                null,
                ownAddresses,
                extensions,
                geo,
                builder.clock().millis());
        originTls.apply(config);
        serverTls = new ServerTls(config, builder.clock()::millis, builder.tlsState());
        adopted = builder.adopted();
        transport = Transport.choose(config.worker().transport().name().toLowerCase(Locale.ROOT));
        int loopCount = config.worker().eventLoops() == 0
                ? Runtime.getRuntime().availableProcessors()
                : config.worker().eventLoops();
        ProcessMemory.recordJvm();
        allocator = new BufferPool(loopCount);
        Path adminSocket = builder.adminSocket() == null ? config.admin().socket() : builder.adminSocket();
        accessLogs = ServerLogs.start(
                config,
                adminSocket != null,
                builder.spans(),
                extensions,
                new FaultLog(log, FAULT_QUIET_NANOS, System::nanoTime));
        try {
            store = TemporaryThread.run(
                    "millrace-open", () -> StoreEngine.open(StoreConfigs.of(config), new StoredHeadCodec()));
        } catch (IOException | RuntimeException e) {
            closeBeforeLoops();
            throw e;
        }
        metrics = metricsOf(builder);
        group = new MultiThreadIoEventLoopGroup(
                loopCount, new DefaultThreadFactory("millrace-loop"), transport.ioHandlerFactory());
        purges = PurgeHistory.in(
                builder.purgeRecords(), () -> live.config().purges().historyMax(), builder.clock()::millis);
        Path outbox = builder.fleetOutbox();
        if (outbox != null) {
            purges.fleet(FleetOutbox.in(outbox, this::fleetMember));
        }
        Invalidator invalidator = Invalidator.over(store.journal(), builder.clock()::millis, () -> live.config()
                .purges()
                .undoWindowMillis());
        shared = ExchangeLoop.Shared.create(
                store, invalidator, purges, allocator, builder.clock(), () -> live.exchange());
        FleetMembersFile members = outbox == null ? null : new FleetMembersFile(outbox);
        if (members != null) {
            shared.groups().members(members.read(), builder.clock().millis());
        }
        shared.groups()
                .apply(
                        config.originGroups(),
                        SelfDetection.of(config, ownAddresses),
                        builder.clock().millis());
        shared.overload().apply(config.remap());
        shared.dictionaries().limit(CompressionConfig.dictionaryMemory(config.values()));
        ConnectionLimit connectionLimit = new ConnectionLimit(
                () -> live.config().limits().connections(),
                loopCount,
                new FaultLog(log, FAULT_QUIET_NANOS, System::nanoTime));
        memory = new ConnectionMemory(
                allocator,
                store,
                () -> live.config().limits().memoryInFlightBytes(),
                new FaultLog(log, FAULT_QUIET_NANOS, System::nanoTime));
        ServingLoop.Memory loopMemory =
                new ServingLoop.Memory(memory, new ConnectionTotals(), loopCount, () -> live.config()
                        .limits()
                        .responseRateMin());
        OriginFaults originFaults = new OriginFaults(builder.clock()::millis);
        for (EventExecutor executor : group) {
            loops.add(new ServingLoop(
                    (EventLoop) executor,
                    allocator,
                    metrics.newLoopCounters(),
                    accessLogs.loopLogs(),
                    shared,
                    originTls,
                    originFaults,
                    () -> live.dns(),
                    () -> live.http1(),
                    () -> live.http2(),
                    connectionLimit,
                    () -> live.config().worker().fastLane(),
                    transport.hasPlainSockets(),
                    loopMemory));
        }
        accessLogs.startTraces(config);
        simulateSizes(config);
        metrics.hosts().apply(config.values().get(AdminKeys.HOSTS));
        ProxyMetrics.bind(metrics, store, allocator, accessLogs);
        ProxyMetrics.bind(metrics, shared.invalidator());
        ProxyMetrics.bind(metrics, purges);
        ProxyMetrics.bind(metrics, shared.clients().rates());
        ProxyMetrics.bind(metrics, shared.encoderThreads());
        ProxyMetrics.bind(metrics, shared.dictionaries());
        ExtensionMetrics.bind(metrics, extensions);
        patternSweeper = new PatternSweeper(store, shared.invalidator(), purges.removals());
        ProxyMetrics.bind(metrics, shared.invalidator(), patternSweeper);
        memory.bind(metrics);
        metrics.supplyGauge(MetricFamily.BUILD, () -> 1, Version.current());
        metrics.supplyGauge(OriginMetric.MARKED_DOWN, () -> shared.hosts().downCount());
        metrics.supplyGauge(ExtensionMetric.ESI_MEMORY, () -> shared.pages().usedBytes());
        metrics.supplyGauge(MetricFamily.OVERLOAD_RULES, () -> shared.overload().count());
        new TlsAdmin(serverTls, builder.clock()::millis).bind(metrics);
        originMetrics = new OriginMetrics(metrics, builder.clock());
        originMetrics.update(shared.groups());
        Path marksFile = builder.originMarks();
        OriginMarks marks = marksFile == null ? null : new OriginMarks(marksFile);
        if (marks != null) {
            marks.restore(shared.groups().all(), builder.clock().millis());
        }
        Path recordsFile = builder.originRecords();
        originRecords = recordsFile == null ? null : new OriginRecords(recordsFile, shared.groups());
        if (originRecords != null) {
            originRecords.restore();
        }
        overloadWatch = new OverloadWatch(loops.get(0).loop(), shared.overload());
        // Set after the marks of operators were restored, because restored marks are no new events.
        shared.groups().events(events);
        shared.hosts().events(events);
        purges.events(events);
        if (extensions.observesPurges()) {
            purges.observer(record -> extensions.purged(
                    new PurgeObserver.Purge(record.scope(), record.target(), record.soft(), record.atMillis())));
        }
        serverTls.events(events);
        diskWatch =
                new DiskWatch(loops.get(0).loop(), () -> store.statistics().volumes(), events, builder.clock()::millis);
        healthChecks =
                new HealthChecks(loops.get(0).loop(), loops.get(0).origins(), shared.groups(), builder.clock()::millis);
        originAdmin = new OriginAdmin(
                shared.groups(), builder.clock(), marks, members, () -> originMetrics.update(shared.groups()));
        ServerView view = new ServerView(this);
        PurgeAdmin purgeAdmin = new PurgeAdmin(view);
        cacheSources = new CacheAccess.Sources(
                () -> state == ProxyState.CLOSED,
                new CacheInspection(view),
                purgeAdmin,
                new CacheListing(() -> store, () -> view.settings().remap(), builder.clock()::millis),
                new StorageAdmin(store));
        admin = DataPlaneAdmin.of(
                view, adminSocket, builder.configFile(), builder.drainMark(), originAdmin, purgeAdmin);
    }

    /**
     * Creates the metrics. If the application's registry refuses the meters, closes the parts that are already open.
     */
    private MetricsRegistry metricsOf(ProxyServerBuilder builder) {
        try {
            return new MetricsRegistry(builder.applicationMeters());
        } catch (IllegalStateException e) {
            closeStore(CacheStore::close);
            closeBeforeLoops();
            throw e;
        }
    }

    /** Closes all objects except the store, after the constructor failed before it created the event loops. */
    private void closeBeforeLoops() {
        serverTls.close();
        originTls.close();
        accessLogs.close();
        allocator.close();
    }

    private FleetOutbox.@Nullable Member fleetMember() {
        FleetConfig fleet = live.config().fleet();
        return fleet == null ? null : new FleetOutbox.Member(fleet.name(), fleet.node(), fleet.outboxBytesMax());
    }

    /** Returns a builder of a proxy. */
    public static ProxyServerBuilder builder() {
        return new ProxyServerBuilder();
    }

    /**
     * Binds all configured addresses and begins to accept clients.
     *
     * @throws IOException if an address cannot be bound or a certificate cannot be used; then the proxy is closed
     */
    public void start() throws IOException {
        if (state != ProxyState.NEW) {
            throw new IllegalStateException("the proxy was started before; its state is " + state);
        }
        try {
            for (ServingLoop loop : loops) {
                loop.start();
            }
            healthChecks.start();
            patternSweeper.start();
            overloadWatch.start();
            diskWatch.start();
            if (originRecords != null) {
                originRecords.start(loops.get(0).loop());
            }
            loops.get(0)
                    .loop()
                    .scheduleWithFixedDelay(
                            this::readOwnAddresses, ADDRESSES_SECONDS, ADDRESSES_SECONDS, TimeUnit.SECONDS);
            loops.get(0)
                    .loop()
                    .scheduleWithFixedDelay(
                            this::checkLocations, LOCATIONS_SECONDS, LOCATIONS_SECONDS, TimeUnit.SECONDS);
            if (metrics.isMirrored()) {
                loops.get(0)
                        .loop()
                        .scheduleWithFixedDelay(
                                () -> CompletableFuture.runAsync(metrics::refresh),
                                METERS_SECONDS,
                                METERS_SECONDS,
                                TimeUnit.SECONDS);
            }
            for (ListenerConfig listener : live.config().listeners()) {
                listeners.add(listen(listener));
            }
            if (admin != null) {
                admin.start();
            }
            state = ProxyState.RUNNING;
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Reads the machine's own addresses again, because they may change. Needed only for the forward proxy, whose
     * clients choose the target.
     */
    private void readOwnAddresses() {
        if (live.config().forwardProxy().enabled()) {
            CompletableFuture.runAsync(ownAddresses::read);
        }
    }

    private void openLocations(ProxyConfig config) {
        geo.apply(config.values().find(GeoKeys.DATABASE), config.values().find(GeoKeys.ASN_DATABASE));
    }

    /** Opens databases of locations again that have changed. */
    private void checkLocations() {
        if (geo.isUsed()) {
            CompletableFuture.runAsync(geo::check);
        }
    }

    private Listener listen(ListenerConfig listener) throws IOException {
        ListenerTls tls = serverTls.listener(listener);
        Function<EventLoop, Listener.Serving> serving =
                loop -> loopOf(loop).serving(tls, listener.http2(), listener.transparency(), proxyHeadersOf(listener));
        String address = listener.address().toString();
        List<EventLoop> eventLoops = loops.stream().map(ServingLoop::loop).toList();
        List<Integer> descriptors = adopted.get(address);
        if (descriptors != null) {
            return Listener.adopt(transport, eventLoops, address, descriptors, tls != null, serving);
        }
        UnixAddress unix = UnixAddress.of(listener);
        if (unix != null) {
            return Listener.bindUnix(transport, eventLoops, unix, tls != null, serving);
        }
        String ip = listener.address().ip();
        InetSocketAddress socketAddress = ip == null
                ? new InetSocketAddress(listener.address().port())
                : new InetSocketAddress(ip, listener.address().port());
        return Listener.bind(transport, eventLoops, address, socketAddress, tls != null, serving);
    }

    private ServingLoop loopOf(EventLoop eventLoop) {
        for (ServingLoop loop : loops) {
            if (loop.loop() == eventLoop) {
                return loop;
            }
        }
        throw new IllegalArgumentException("not a loop of this proxy: " + eventLoop);
    }

    /**
     * Applies the changed settings that can change at run time. Other changed settings keep their old values; the
     * report lists them. They take effect in a new proxy that is built with the configuration. Requests in progress
     * finish with the old settings.
     */
    public ReloadReport reload(ProxyConfig config) {
        List<ReloadReport.Setting> settings = new ArrayList<>();
        for (ConfigChange change : ConfigChange.between(live.config(), config)) {
            boolean applied = change.apply() == ConfigKey.Apply.LIVE;
            settings.add(new ReloadReport.Setting(
                    change.key(), applied ? ReloadReport.Result.APPLIED : ReloadReport.Result.NEEDS_NEW_PROXY));
        }
        originTls.apply(config);
        long nowMillis = shared.clock().millis();
        // Steps that may fail run before the first change takes effect.
        LiveSettings next =
                LiveSettings.of(config, built, live.exchange().forward(), ownAddresses, extensions, geo, nowMillis);
        SelfDetection isThisProxy = SelfDetection.of(config, ownAddresses);
        openLocations(config);
        shared.groups().apply(config.originGroups(), isThisProxy, nowMillis);
        shared.overload().apply(config.remap());
        live = next;
        limitDictionaries(config);
        serverTls.reload(config);
        accessLogs.apply(config);
        originMetrics.update(shared.groups());
        originAdmin.groupsChanged();
        store.ramAdmitsAll(config.store().ramAdmitsAll());
        store.scrubRate(config.store().scrubBytesPerSecond());
        simulateSizes(config);
        metrics.hosts().apply(config.values().get(AdminKeys.HOSTS));
        return new ReloadReport(settings);
    }

    private void limitDictionaries(ProxyConfig config) {
        shared.dictionaries().limit(CompressionConfig.dictionaryMemory(config.values()));
        if (live.exchange().guards() != null) {
            // The new rules may protect responses that every client could read when they became compression
            // dictionaries.
            shared.dictionaries().clear();
        }
    }

    private void simulateSizes(ProxyConfig config) {
        store.simulateSizes(config.store().simulatesSizes() ? CacheKey::hostOf : null);
    }

    /**
     * Sets the TLS session ticket keys that several processes share. Clients can then resume a session with any
     * of these processes. Without this call, the proxy generates its own keys.
     *
     * @param keys concatenated keys, newest first, each of {@link TicketKeys#KEY_BYTES} bytes
     */
    public void ticketKeys(byte[] keys) {
        serverTls.giveTicketKeys(TicketKeys.parse(keys));
    }

    private @Nullable Supplier<ProxyHeaderDecoder.Settings> proxyHeadersOf(ListenerConfig listener) {
        return switch (listener.proxyProtocol()) {
            case OFF -> null;
            case ACCEPT -> () -> live.acceptedHeaders();
            case REQUIRE -> () -> live.requiredHeaders();
        };
    }

    /**
     * Stops accepting clients, and lets requests in progress finish. Responses have {@code Connection: close},
     * and idle connections are closed. The store releases its volumes before this method returns. Adopted sockets
     * stay open in the launcher process.
     *
     * @param nanos time limit; {@link #close} closes the remaining connections
     * @return completes when no client connection is left and no admin request changes the state, or at the time limit
     */
    public CompletionStage<Void> drain(long nanos) {
        if (state == ProxyState.CLOSED) {
            return CompletableFuture.completedFuture(null);
        }
        stopAccepting();
        endReads();
        return limited(ClientDrain.begin(loops, ConnectionSet::drain, () -> {}), nanos);
    }

    /** See {@link HandOver#drain}. */
    CompletionStage<Void> drainGradually(long nanos, Runnable onNoFurtherRequest) {
        if (state == ProxyState.CLOSED) {
            onNoFurtherRequest.run();
            return CompletableFuture.completedFuture(null);
        }
        stopAccepting();
        ClientDrain.LoopDrain how =
                nanos < ConnectionSet.GRADUAL_DRAIN_MIN_NANOS ? ConnectionSet::drain : ConnectionSet::drainGradually;
        return limited(ClientDrain.begin(loops, how, onNoFurtherRequest), nanos);
    }

    private void stopAccepting() {
        if (state == ProxyState.RUNNING) {
            state = ProxyState.DRAINING;
        }
        for (Listener listener : listeners) {
            for (Future<?> closing : listener.close()) {
                closing.awaitUninterruptibly();
            }
        }
        endOriginRecords();
    }

    /**
     * Releases the volumes. From now on a successor may write to all of them. Requests in progress still read from
     * them, but store no responses.
     */
    void endReads() {
        try {
            store.suspendWrites();
        } catch (IOException e) {
            log.warn("the volumes could not be released; the store keeps them until it is closed", e);
        }
    }

    private CompletionStage<Void> limited(CompletionStage<Void> connectionsEnded, long nanos) {
        return ClientDrain.limited(connectionsEnded, admin, group.next(), nanos);
    }

    /**
     * Returns the stored responses, with lookups, purges and listings. Stages complete on the common pool, see
     * {@link ForkJoinPool#commonPool}.
     */
    public ProxyCache cache() {
        return cache(ForkJoinPool.commonPool());
    }

    /**
     * Returns the stored responses.
     *
     * @param executor executor of the application, on which stages complete and receivers run
     */
    public ProxyCache cache(Executor executor) {
        return new CacheAccess(cacheSources, executor);
    }

    /** The open extensions. */
    ExtensionSet extensions() {
        return extensions;
    }

    /** Returns the methods that pass the storage on to another proxy, or take it over. */
    public HandOver handOver() {
        return new HandOver(this);
    }

    /** Closes connections, listeners, threads and the store. Blocks until all resources are released. */
    @Override
    public void close() {
        close(CacheStore::close);
    }

    /** Closes like {@link #close}, but does not free the RAM tier, because the process ends. */
    void closeBeforeExit() {
        close(CacheStore::closeBeforeExit);
    }

    private void close(StoreClosing storeClosing) {
        if (state == ProxyState.CLOSED) {
            return;
        }
        state = ProxyState.CLOSED;
        if (admin != null) {
            admin.close();
        }
        for (Listener listener : listeners) {
            for (Future<?> closing : listener.close()) {
                closing.awaitUninterruptibly();
            }
        }
        loops.get(0).loop().submit(healthChecks::close).awaitUninterruptibly();
        patternSweeper.close();
        loops.get(0).loop().submit(overloadWatch::close).awaitUninterruptibly();
        loops.get(0).loop().submit(diskWatch::close).awaitUninterruptibly();
        for (ServingLoop loop : loops) {
            loop.loop().submit(loop::close).awaitUninterruptibly();
        }
        shared.encoderThreads().close();
        serverTls.close();
        originTls.close();
        endOriginRecords();
        closeStore(storeClosing);
        // Waits until the loops have run the last tasks of the store and of other loops, which release buffers.
        for (int round = 0; round < CLOSING_ROUNDS; round++) {
            for (ServingLoop loop : loops) {
                loop.loop().submit(() -> {}).awaitUninterruptibly();
            }
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        // Extensions get the last access records before they are closed.
        accessLogs.close();
        extensions.close();
        purges.close();
        purges.fleet().close();
        metrics.close();
        allocator.close();
    }

    /** Writes the file of {@link OriginRecords} for the last time. A successor reads it. */
    private void endOriginRecords() {
        if (originRecords != null) {
            originRecords.end();
        }
    }

    /** One of the two ways to close the store. */
    private interface StoreClosing {
        void close(CacheStore<StoredHead> store) throws IOException;
    }

    private void closeStore(StoreClosing closing) {
        try {
            TemporaryThread.run("millrace-close", () -> {
                closing.close(store);
                return store;
            });
        } catch (IOException e) {
            log.warn("the store could not be closed cleanly", e);
        }
    }

    /**
     * Runs a callback when all event loops have responded. Shows that none of them is blocked.
     *
     * @param allLoopsAlive runs on the event loop that responds last
     */
    public void beat(Runnable allLoopsAlive) {
        AtomicInteger loopsToRespond = new AtomicInteger(loops.size());
        for (ServingLoop loop : loops) {
            loop.loop().execute(() -> {
                if (loopsToRespond.decrementAndGet() == 0) {
                    allLoopsAlive.run();
                }
            });
        }
    }

    /** Closes the access logs and opens them again by name. Call after the files were renamed. */
    public void reopenLogs() {
        accessLogs.reopen();
    }

    /** The access logs that cannot be written now, each with the reason. */
    Map<String, String> logFailures() {
        return accessLogs.failures();
    }

    /** The bound TCP addresses, in the order of the configuration. */
    public List<InetSocketAddress> addresses() {
        return listeners.stream()
                .filter(listener -> !listener.isUnix())
                .map(Listener::localAddress)
                .toList();
    }

    /** The bound port of the first TCP address. */
    public int port() {
        return addresses().get(0).getPort();
    }

    /** The current configuration. */
    public ProxyConfig config() {
        return live.config();
    }

    /** The current state. */
    public ProxyState state() {
        return state;
    }

    /** The transport: {@code epoll} or {@code nio}. */
    public String transport() {
        return transport.toString();
    }

    /** The TLS provider, with its version. */
    public String tls() {
        return TlsLibrary.version();
    }

    /** All metrics in Prometheus' text format. */
    public String metricsText() {
        return metrics.prometheusText();
    }

    /** The pool of all buffers of this proxy. */
    BufferPool allocator() {
        return allocator;
    }

    Duration uptime() {
        return Duration.ofNanos(System.nanoTime() - startedNanos);
    }

    List<Listener> listeners() {
        return listeners;
    }

    List<ServingLoop> loops() {
        return loops;
    }

    MetricsRegistry metrics() {
        return metrics;
    }

    CacheStore<StoredHead> store() {
        return store;
    }

    @Nullable
    LiveLog liveLog() {
        return accessLogs.live();
    }

    ServerTls serverTls() {
        return serverTls;
    }

    /** The budget for buffers of connections ({@code limits.memory_in_flight}). */
    ConnectionMemory memory() {
        return memory;
    }

    ExchangeLoop.Shared shared() {
        return shared;
    }

    /** Returns the settings that a reload replaces, for tests. */
    Record snapshot() {
        return live;
    }

    ExchangeSettings settings() {
        return live.exchange();
    }
}
