package io.millrace.proxy;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.exchange.decide.WallClock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collects what a {@link ProxyServer} is built of.
 *
 * <p>Confined to one thread.
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
    private WallClock clock = WallClock.SYSTEM;

    ProxyServerBuilder() {}

    /** The configuration; {@link ProxyConfig#builder()} makes one in code. */
    public ProxyServerBuilder config(ProxyConfig value) {
        config = value;
        return this;
    }

    /**
     * Accepts clients at an address too, such as {@code 127.0.0.1:0}.
     *
     * @throws IllegalArgumentException when it is none
     */
    public ProxyServerBuilder listen(String address) {
        config = config.toBuilder().listen(address).build();
        return this;
    }

    /**
     * Maps URLs to an origin, such as {@code /} to {@code http://127.0.0.1:9000}: one more remap rule, after those before.
     *
     * @throws IllegalArgumentException when one of them cannot stand in a rule
     */
    public ProxyServerBuilder map(String from, String to) {
        config = config.toBuilder().map(from, to).build();
        return this;
    }

    /**
     * Listening sockets that another process bound, by the address that the configuration names; with them the proxy binds
     * nothing. It takes ownership of the descriptors. Epoll only.
     */
    public ProxyServerBuilder adoptListeners(Map<String, List<Integer>> descriptorsByAddress) {
        adopted = Map.copyOf(descriptorsByAddress);
        return this;
    }

    /** Serves the admin API on a Unix socket at this path; without one {@code admin.socket} decides, and without that nothing is served. */
    public ProxyServerBuilder adminSocket(Path path) {
        adminSocket = path;
        return this;
    }

    /** Keeps in this file which origins operators have put down, so that the next proxy with the same file knows it. */
    public ProxyServerBuilder originMarks(Path file) {
        originMarks = file;
        return this;
    }

    /** Keeps in this file what is seen of origins, so that the next proxy with the same file knows how reliable they are. */
    public ProxyServerBuilder originRecords(Path file) {
        originRecords = file;
        return this;
    }

    /** Keeps in this file whether an operator drains it, so that the next proxy with the same file knows it. */
    public ProxyServerBuilder drainMark(Path file) {
        drainMark = file;
        return this;
    }

    /**
     * Keeps answers of OCSP responders, and copies of automatic certificates whose storage is elsewhere, in this directory:
     * the next proxy with the same directory has them at its start. Without it they are in memory only.
     */
    public ProxyServerBuilder tlsState(Path directory) {
        tlsState = directory;
        return this;
    }

    /**
     * Keeps records of purges in this directory, which several proxies may share; without it they are in memory, and end with
     * the proxy.
     */
    public ProxyServerBuilder purgeRecords(Path directory) {
        purgeRecords = directory;
        return this;
    }

    /** The file that the configuration came from, for the status. */
    public ProxyServerBuilder configFile(Path path) {
        configFile = path;
        return this;
    }

    /** The time of day, for tests. */
    public ProxyServerBuilder clock(WallClock source) {
        clock = source;
        return this;
    }

    /**
     * Opens the store and prepares the event loops; nothing is accepted before {@link ProxyServer#start}.
     *
     * @throws IOException when a storage path belongs to another instance, or a certificate cannot be used
     */
    public ProxyServer build() throws IOException {
        return new ProxyServer(this);
    }

    /** Builds and {@linkplain ProxyServer#start starts} it. */
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

    WallClock clock() {
        return clock;
    }
}
