package io.millrace.proxy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.exchange.settings.WallClock;
import io.millrace.proxy.extension.ExtensionEntry;
import io.millrace.proxy.extension.ExtensionSet;
import io.millrace.proxy.extension.load.ConfiguredExtensions;
import io.millrace.proxy.observe.ApplicationMeters;
import io.millrace.proxy.observe.event.EventLimit;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.observe.trace.SpanExport;
import io.millrace.proxy.spi.Extension;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * The builder of a {@link ProxyServer}.
 *
 * <p>Not thread-safe.
 */
public final class ProxyServerBuilder {
    private ProxyConfig config = ProxyConfig.defaults();
    private Map<String, List<Integer>> adopted = Map.of();
    private @Nullable Path adminSocket;
    private @Nullable Path configFile;
    private @Nullable Path originMarks;
    private @Nullable Path originRecords;
    private @Nullable Path drainMark;
    private @Nullable Path tlsState;
    private @Nullable Path purgeRecords;
    private @Nullable Path fleetOutbox;
    private @Nullable Path hookTrail;
    private EventSink events = EventSink.NONE;
    private @Nullable SpanExport spans;
    private WallClock clock = WallClock.SYSTEM;
    private final List<ExtensionEntry> extensions = new ArrayList<>();
    private @Nullable ScheduledExecutorService extensionExecutor;
    private @Nullable MeterRegistry meterRegistry;
    private Tags meterTags = Tags.empty();

    ProxyServerBuilder() {}

    /** Sets the configuration. {@link ProxyConfig#builder()} creates a configuration in code. */
    public ProxyServerBuilder config(ProxyConfig value) {
        config = value;
        return this;
    }

    /**
     * Adds a listening address, for example {@code 127.0.0.1:0}.
     *
     * @throws IllegalArgumentException if the text is not an address
     */
    public ProxyServerBuilder listen(String address) {
        config = config.toBuilder().listen(address).build();
        return this;
    }

    /**
     * Appends a remap rule, for example from {@code /} to {@code http://127.0.0.1:9000}.
     *
     * @throws IllegalArgumentException if an argument is not permitted in a rule
     */
    public ProxyServerBuilder map(String from, String to) {
        config = config.toBuilder().map(from, to).build();
        return this;
    }

    /**
     * Sets listening sockets that another process has bound, by configured address. The proxy does not bind these
     * addresses itself. Takes ownership of the descriptors. Needs the transport epoll.
     */
    public ProxyServerBuilder adoptListeners(Map<String, List<Integer>> descriptorsByAddress) {
        adopted = Map.copyOf(descriptorsByAddress);
        return this;
    }

    /**
     * Sets the path of the admin API's Unix socket, in place of {@code admin.socket} of the configuration. If
     * neither is set, the admin API is not served.
     */
    public ProxyServerBuilder adminSocket(Path path) {
        adminSocket = path;
        return this;
    }

    /**
     * Sets the file that records which origin hosts operators have marked down. The next proxy with the same file
     * restores these marks.
     */
    public ProxyServerBuilder originMarks(Path file) {
        originMarks = file;
        return this;
    }

    /**
     * Sets the file that keeps the history of origin hosts: the HTTP version, the numbers of requests and failures, and
     * the times of the last response and failure. The next proxy with the same file restores the history.
     */
    public ProxyServerBuilder originRecords(Path file) {
        originRecords = file;
        return this;
    }

    /** Sets the file that keeps an operator's drain request. The next proxy with the same file drains too. */
    public ProxyServerBuilder drainMark(Path file) {
        drainMark = file;
        return this;
    }

    /**
     * Sets the directory for OCSP responses and copies of automatic certificates. Certificates are copied if their
     * storage is on another file system. The next proxy with the same directory reads them at its start. Without a
     * directory, they are kept in memory only.
     */
    public ProxyServerBuilder tlsState(Path directory) {
        tlsState = directory;
        return this;
    }

    /**
     * Sets the directory for the audit records of purges. Several proxies may share it. Without a directory, the
     * records are kept in memory and are lost when the proxy ends.
     */
    public ProxyServerBuilder purgeRecords(Path directory) {
        purgeRecords = directory;
        return this;
    }

    /**
     * Sets the directory for purges that wait for other nodes of a fleet. The launcher publishes them. Without a
     * directory, the section {@code fleet} has no effect.
     */
    public ProxyServerBuilder fleetOutbox(Path directory) {
        fleetOutbox = directory;
        return this;
    }

    /**
     * Sets the file that records which hooks of extensions are running. After the process has ended, for example for
     * lack of memory, {@link io.millrace.proxy.extension.trail.HookTrail#read} returns their names.
     */
    public ProxyServerBuilder hookTrail(Path file) {
        hookTrail = file;
        return this;
    }

    /** Sets the path of the configuration file, which the status of the admin API shows. */
    public ProxyServerBuilder configFile(Path path) {
        configFile = path;
        return this;
    }

    /**
     * Sets the receiver of operational events. These are purges, and origin hosts and storage paths that go down or up.
     * Called on event loops and other threads, so it must not block. At most 30 events of each kind are passed on per
     * minute.
     */
    public ProxyServerBuilder events(EventSink sink) {
        events = sink;
        return this;
    }

    /**
     * Sets the export of traces: the spans of requests and of their requests to origins. The settings below
     * {@code traces} select the requests. Without an export, no request is traced.
     */
    public ProxyServerBuilder spans(SpanExport export) {
        spans = export;
        return this;
    }

    /**
     * Sets a registry of the application, which gets all metrics of the proxy. Their names are the same as in the
     * Prometheus text. {@link ProxyServer#close} removes them. The registry's threads query the values. Metrics of the
     * JVM are not added.
     *
     * @param tags keys and values in turn, added to each meter; several proxies of a registry need different values of
     *     the same keys
     * @throws IllegalArgumentException if a key has no value
     */
    public ProxyServerBuilder meterRegistry(MeterRegistry registry, String... tags) {
        meterRegistry = registry;
        meterTags = Tags.of(tags);
        return this;
    }

    /**
     * Adds an extension for all remap rules, with the defaults of each hook.
     *
     * @param extension opened by {@link #build}, and closed by {@link ProxyServer#close}
     */
    public ProxyServerBuilder extension(Extension extension) {
        return extension(ExtensionEntry.of(extension));
    }

    /** Adds an extension with its settings. Extensions are called in the order of these calls. */
    public ProxyServerBuilder extension(ExtensionEntry entry) {
        extensions.add(entry);
        return this;
    }

    /**
     * Sets the executor for blocking work of extensions, in place of threads of the proxy. The proxy does not shut it
     * down.
     */
    public ProxyServerBuilder extensionExecutor(ScheduledExecutorService executor) {
        extensionExecutor = executor;
        return this;
    }

    /** Sets the wall clock, for tests. */
    public ProxyServerBuilder clock(WallClock source) {
        clock = source;
        return this;
    }

    /**
     * Opens the store and creates the event loops. {@link ProxyServer#start} begins to accept clients.
     *
     * @throws IOException if a storage path is in use by another process, or a certificate or an extension cannot be
     *     used
     * @throws IllegalStateException if an open proxy has the same meter registry and tags
     */
    public ProxyServer build() throws IOException {
        EventSink limited = events == EventSink.NONE ? EventSink.NONE : new EventLimit(events, System::nanoTime);
        ExtensionSet opened = open(ConfiguredExtensions.load(config.extensions(), extensions), limited);
        try {
            return new ProxyServer(this, opened, limited);
        } catch (IOException | RuntimeException | Error e) {
            opened.close();
            throw e;
        }
    }

    /** Opens the extensions. Releases their code at once if that fails, else when the extensions are closed. */
    private ExtensionSet open(ConfiguredExtensions configured, EventSink sink) throws IOException {
        try {
            ExtensionSet opened =
                    ExtensionSet.open(configured.entries(), extensionExecutor, sink, clock::millis, hookTrail);
            opened.afterClose(configured::close);
            return opened;
        } catch (IOException | RuntimeException | Error e) {
            configured.close();
            throw e;
        }
    }

    /** Builds and {@linkplain ProxyServer#start starts} a proxy. */
    public ProxyServer start() throws IOException {
        ProxyServer proxy = build();
        proxy.start();
        return proxy;
    }

    ProxyConfig config() {
        return config;
    }

    Map<String, List<Integer>> adopted() {
        return adopted;
    }

    @Nullable
    Path adminSocket() {
        return adminSocket;
    }

    @Nullable
    Path configFile() {
        return configFile;
    }

    @Nullable
    Path tlsState() {
        return tlsState;
    }

    @Nullable
    Path purgeRecords() {
        return purgeRecords;
    }

    @Nullable
    Path fleetOutbox() {
        return fleetOutbox;
    }

    @Nullable
    Path drainMark() {
        return drainMark;
    }

    @Nullable
    Path originMarks() {
        return originMarks;
    }

    @Nullable
    Path originRecords() {
        return originRecords;
    }

    @Nullable
    SpanExport spans() {
        return spans;
    }

    /** Creates the meters of the application's registry; null if there is no such registry. */
    @Nullable
    ApplicationMeters applicationMeters() {
        return meterRegistry == null ? null : new ApplicationMeters(meterRegistry, meterTags);
    }

    WallClock clock() {
        return clock;
    }
}
