package io.millrace.proxy;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.exchange.decide.WallClock;
import io.millrace.proxy.observe.event.EventSink;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
    private EventSink events = EventSink.NONE;
    private WallClock clock = WallClock.SYSTEM;

    ProxyServerBuilder() {}

    /** Sets the configuration; {@link ProxyConfig#builder()} creates one in code. */
    public ProxyServerBuilder config(ProxyConfig value) {
        config = value;
        return this;
    }

    /**
     * Adds a listen address, for example {@code 127.0.0.1:0}.
     *
     * @throws IllegalArgumentException if it is not an address
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
     * Sets listening sockets that another process has bound, by configured address; the proxy then binds nothing. Takes
     * ownership of the descriptors. Epoll only.
     */
    public ProxyServerBuilder adoptListeners(Map<String, List<Integer>> descriptorsByAddress) {
        adopted = Map.copyOf(descriptorsByAddress);
        return this;
    }

    /**
     * Sets the path of the admin API's Unix socket. The default is {@code admin.socket}; without either, the admin API
     * is not served.
     */
    public ProxyServerBuilder adminSocket(Path path) {
        adminSocket = path;
        return this;
    }

    /** Sets the file with the origins that operators have marked down, for the next proxy with the same file. */
    public ProxyServerBuilder originMarks(Path file) {
        originMarks = file;
        return this;
    }

    /** Sets the file with the history of origins, for the next proxy with the same file. */
    public ProxyServerBuilder originRecords(Path file) {
        originRecords = file;
        return this;
    }

    /** Sets the file that marks an operator's drain request, for the next proxy with the same file. */
    public ProxyServerBuilder drainMark(Path file) {
        drainMark = file;
        return this;
    }

    /**
     * Sets the directory for OCSP responses, and for copies of automatic certificates with a storage elsewhere. The
     * next proxy with the same directory reads them at its start. Without a directory they are in memory only.
     */
    public ProxyServerBuilder tlsState(Path directory) {
        tlsState = directory;
        return this;
    }

    /**
     * Sets the directory for records of purges. Several proxies may share it. Without a directory the records are in
     * memory and are lost when the proxy ends.
     */
    public ProxyServerBuilder purgeRecords(Path directory) {
        purgeRecords = directory;
        return this;
    }

    /** Sets the path of the configuration file that the status shows. */
    public ProxyServerBuilder configFile(Path path) {
        configFile = path;
        return this;
    }

    /**
     * Sets the receiver of events: purges, hosts of origin groups and storage paths that go down or come back. Called on
     * event loops and other threads; must not block. At most 30 events of a kind pass in a minute.
     */
    public ProxyServerBuilder events(EventSink sink) {
        events = sink;
        return this;
    }

    /** Sets the wall clock, for tests. */
    public ProxyServerBuilder clock(WallClock source) {
        clock = source;
        return this;
    }

    /**
     * Opens the store and creates the event loops; {@link ProxyServer#start} begins to accept.
     *
     * @throws IOException if a storage path belongs to another instance, or a certificate cannot be used
     */
    public ProxyServer build() throws IOException {
        return new ProxyServer(this);
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

    EventSink events() {
        return events;
    }

    WallClock clock() {
        return clock;
    }
}
