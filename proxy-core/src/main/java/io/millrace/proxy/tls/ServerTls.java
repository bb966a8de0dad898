package io.millrace.proxy.tls;

import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.TlsSettingsInForce;
import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.config.tls.TlsConfig;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.tls.ocsp.OcspFault;
import io.millrace.proxy.tls.ocsp.StapleStatus;
import io.millrace.proxy.tls.ocsp.Stapling;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS for the clients of one proxy. Manages certificates, TLS contexts, session ticket keys and OCSP staples, and
 * checks for changed files.
 *
 * <p>Thread-safe. Threads exist only if an address uses TLS.
 */
public final class ServerTls implements AutoCloseable {
    /**
     * Key of TLS contexts that several listening addresses share. These addresses use the certificates of
     * {@code tls.certificates} with the same settings.
     */
    private record ContextKey(ServerTlsConfig settings, boolean http2) {}

    private static final Logger log = LoggerFactory.getLogger(ServerTls.class);

    /** Minimum pause after a check for changed files, as a multiple of the duration of the check. */
    private static final int PAUSE_FACTOR = 20;

    /** Limit up to which {@link #PAUSE_FACTOR} extends the time between the starts of two checks. */
    private static final long PAUSE_MAX_NANOS = TimeUnit.SECONDS.toNanos(10);

    private volatile EventSink events = EventSink.NONE;
    private final ReentrantLock lock = new ReentrantLock();
    private final LongSupplier clockMillis;
    private final List<CertificateStore> stores = new ArrayList<>();
    private final List<ServerContexts> contexts = new ArrayList<>();
    /** The store of all addresses without a certificate of their own; null before the first such address. */
    private @Nullable CertificateStore shared;

    private final Map<ContextKey, ServerContexts> sharedContexts = new HashMap<>();
    private @Nullable ScheduledExecutorService fileChecks;
    private @Nullable ScheduledExecutorService contextExecutor;
    private @Nullable Future<?> nextCheck;
    private final TicketKeySource ticketKeys = new TicketKeySource(this::useTicketKeys);
    private volatile TlsConfig config;
    private volatile ProxyConfig fullConfig;
    private @Nullable AutomaticCertificates automatic;
    private volatile @Nullable AcmeConfig acme;
    private final AutomaticNames automaticNames = new AutomaticNames();
    private final @Nullable Path state;
    private @Nullable Stapling stapling;

    /**
     * Creates the TLS management. {@link #listener} loads the certificates.
     *
     * @param state directory in which OCSP answers and copies of certificates are kept; null to keep none
     */
    public ServerTls(ProxyConfig config, LongSupplier clockMillis, @Nullable Path state) {
        this.state = state;
        this.config = config.tls();
        fullConfig = config;
        this.acme = config.acme();
        this.clockMillis = clockMillis;
    }

    /** Sets the receiver of events for certificates that expire soon. Call before {@link #listener}. */
    public void events(EventSink sink) {
        events = sink;
    }

    /**
     * Creates TLS for one listening address. Loads its certificates, unless another address has loaded them. Blocks.
     *
     * @return null for an address without TLS
     * @throws IOException if the address has its own certificate, which cannot be used
     */
    public @Nullable ListenerTls listener(ListenerConfig listener) throws IOException {
        ListenerConfig.Tls tls = listener.tls();
        if (tls == null) {
            return null;
        }
        lock.lock();
        try {
            return make(tls, listener.http2());
        } finally {
            lock.unlock();
        }
    }

    private ListenerTls make(ListenerConfig.Tls tls, boolean http2) throws IOException {
        ScheduledExecutorService executor = start();
        Path certificate = tls.certificate();
        if (certificate == null) {
            CertificateStore all = shared;
            ContextKey key = new ContextKey(tls.settings(), http2);
            ServerContexts known = sharedContexts.get(key);
            if (all == null) {
                all = new CertificateStore(config, clockMillis);
                all.events(events);
                shared = all;
                stores.add(all);
                all.copies(CertificateCopies.of(acme, state));
                all.checkFiles();
                automaticNames.checkFiles(acme);
                automatic = new AutomaticCertificates(acme, executor, clockMillis, all::checkFiles);
            }
            if (known == null) {
                known = contexts(executor, tls, http2);
                sharedContexts.put(key, known);
                all.attach(known);
            }
            return new ListenerTls(all, known, true, automatic);
        }
        CertificateStore storeOfAddress = new CertificateStore(singleCertificate(certificate, tls.key()), clockMillis);
        storeOfAddress.events(events);
        ServerContexts made = contexts(executor, tls, http2);
        storeOfAddress.attach(made);
        stores.add(storeOfAddress);
        storeOfAddress.checkFiles();
        CertificateSet set = storeOfAddress.index().find(null);
        if (set == null) {
            TlsReport.Line line = storeOfAddress.report().lines().get(0);
            throw new IOException("listen.tls: " + line.problem());
        }
        made.prepare(set);
        return new ListenerTls(storeOfAddress, made, false, null);
    }

    private ServerContexts contexts(ScheduledExecutorService executor, ListenerConfig.Tls tls, boolean http2)
            throws SSLException {
        // Detects invalid settings at the start instead of at the first handshake.
        ServerContexts.check(tls.settings());
        ServerContexts made = new ServerContexts(
                executor, tls.settings(), http2, ticketKeys.keys(), Objects.requireNonNull(stapling), clockMillis);
        contexts.add(made);
        return made;
    }

    private TlsConfig singleCertificate(Path certificate, @Nullable Path key) {
        return new TlsConfig(
                List.of(new TlsConfig.Certificates(certificate, key, null, List.of())),
                null,
                TlsConfig.UnknownName.DEFAULT,
                config.checkNanos(),
                null,
                null);
    }

    private ScheduledExecutorService start() {
        ScheduledExecutorService executor = contextExecutor;
        if (executor == null || fileChecks == null) {
            executor =
                    Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("millrace-tls-contexts", true));
            contextExecutor = executor;
            stapling = new Stapling(
                    state == null ? null : state.resolve("ocsp"), executor, clockMillis, this::updateStaple);
            fileChecks =
                    Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("millrace-tls-files", true));
            schedule(config.checkNanos());
            ticketKeys.file(config.ticketKeysFile());
            var unused = fileChecks.scheduleWithFixedDelay(
                    this::rotateTicketKeys, TicketKeys.ROTATION_HOURS, TicketKeys.ROTATION_HOURS, TimeUnit.HOURS);
        }
        return executor;
    }

    private void schedule(long nanos) {
        try {
            nextCheck = Objects.requireNonNull(fileChecks).schedule(this::checkAgain, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            log.debug("the server was closed while certificates were checked", e);
        }
    }

    private void checkAgain() {
        long begun = System.nanoTime();
        RuntimeException failure = null;
        try {
            checkFiles();
            automaticNames.checkFiles(acme);
        } catch (RuntimeException e) {
            failure = e;
        }
        long spent = System.nanoTime() - begun;
        long pauseMax = Math.max(PAUSE_MAX_NANOS - spent, 0);
        long pause;
        lock.lock();
        try {
            pause = Math.max(config.checkNanos(), Math.min(pauseMax, spent * PAUSE_FACTOR));
            schedule(pause);
        } finally {
            lock.unlock();
        }
        if (failure != null) {
            log.error(
                    "TLS: the check for changed certificates failed; the next check is in {} ms",
                    TimeUnit.NANOSECONDS.toMillis(pause),
                    failure);
        }
    }

    private void useTicketKeys(TicketKeys keys) {
        contexts.forEach(each -> each.ticketKeys(keys));
    }

    private void rotateTicketKeys() {
        lock.lock();
        try {
            ticketKeys.rotate();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sets the session ticket keys that the launcher process creates and rotates. Keys from a configured file
     * have precedence.
     */
    public void giveTicketKeys(TicketKeys keys) {
        lock.lock();
        try {
            ticketKeys.receiveFromLauncher(keys);
        } finally {
            lock.unlock();
        }
    }

    private @Nullable CertificateStore sharedStore() {
        lock.lock();
        try {
            return shared;
        } finally {
            lock.unlock();
        }
    }

    private List<CertificateStore> stores() {
        lock.lock();
        try {
            return List.copyOf(stores);
        } finally {
            lock.unlock();
        }
    }

    private void updateStaple(String sha256) {
        Stapling known = stapling();
        if (known != null) {
            stores().forEach(store -> store.updateStaple(sha256, known));
        }
    }

    private @Nullable Stapling stapling() {
        lock.lock();
        try {
            return stapling;
        } finally {
            lock.unlock();
        }
    }

    /** Checks for changed files now. Blocks. */
    void checkFiles() {
        for (CertificateStore store : stores()) {
            store.checkFiles();
        }
        lock.lock();
        try {
            ticketKeys.checkFiles();
            contexts.forEach(ServerContexts::checkFiles);
        } finally {
            lock.unlock();
        }
        forgetStaples();
    }

    private void forgetStaples() {
        Stapling known = stapling();
        if (known != null && !known.isIdle()) {
            Set<String> used = new HashSet<>();
            stores().forEach(store -> store.addStapled(used));
            known.retain(used);
        }
    }

    /** Applies a new configuration. Unchanged certificates are not loaded again. Blocks. */
    public void reload(ProxyConfig next) {
        CertificateStore store;
        lock.lock();
        try {
            boolean sooner = next.tls().checkNanos() < config.checkNanos();
            boolean otherKeys = !Objects.equals(next.tls().ticketKeysFile(), config.ticketKeysFile());
            config = next.tls();
            fullConfig = next;
            store = shared;
            if (otherKeys && fileChecks != null) {
                ticketKeys.file(config.ticketKeysFile());
            }
            acme = next.acme();
            if (automatic != null) {
                automatic.configure(acme);
            }
            if (sooner && nextCheck != null && nextCheck.cancel(false)) {
                schedule(config.checkNanos());
            }
        } finally {
            lock.unlock();
        }
        if (store != null) {
            store.copies(CertificateCopies.of(next.acme(), state));
            store.configure(next.tls());
        }
    }

    /** The number of ACME challenges answered by handshakes since the start. */
    public long challenges() {
        lock.lock();
        try {
            return automatic == null ? 0 : automatic.challenges();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the records of names with automatic certificates, as of the last check. */
    public List<AcmeRecord> automaticNames() {
        return automaticNames.all();
    }

    /** Returns the effective settings for the names of a certificate of the report. */
    public List<TlsSettingsInForce.Setting> settings(TlsReport.Line line) {
        return TlsSettingsInForce.of(
                fullConfig, line.element(), line.isOwn() ? line.files().certificate() : null);
    }

    /** Returns the OCSP staple status of a certificate. Returns null if no staple is requested for it. */
    public @Nullable StapleStatus staple(ServerCertificate.Facts facts) {
        Stapling known = stapling();
        return known == null ? null : known.status(facts.sha256());
    }

    /**
     * Returns the number of certificates for which a staple is requested.
     *
     * @param stapled true to count certificates with a staple, false to count certificates without
     */
    public long staples(boolean stapled) {
        Stapling known = stapling();
        return known == null ? 0 : known.count(stapled);
    }

    /**
     * Returns the number of OCSP answers since the start.
     *
     * @param fault counts the answers with this fault; null counts the accepted answers
     */
    public long ocspAnswers(OcspFault.@Nullable Kind fault) {
        Stapling known = stapling();
        if (known == null) {
            return 0;
        }
        return fault == null ? known.answers() : known.faults(fault);
    }

    /** Returns the state of all certificates, as of the last check. */
    public TlsReport report() {
        List<TlsReport.Line> lines = new ArrayList<>();
        Map<Path, String> directories = new HashMap<>();
        Map<CertificateFault.Kind, Long> faults = new EnumMap<>(CertificateFault.Kind.class);
        long seen = 0;
        CertificateStore sharedStore = sharedStore();
        for (CertificateStore store : stores()) {
            TlsReport report = store.report();
            boolean own = store != sharedStore;
            report.lines().forEach(line -> lines.add(own ? line.own() : line));
            directories.putAll(report.directories());
            report.faults().forEach((kind, count) -> faults.merge(kind, count, Long::sum));
            seen = Math.max(seen, report.seenMillis());
        }
        return new TlsReport(lines, directories, faults, seen);
    }

    /**
     * Reads and checks certificate files, without using the certificates. Blocks.
     *
     * @param file PEM file or directory
     * @param key PEM file with the key; null for the usual key file beside {@code file}, or {@code file} itself
     * if there is none
     */
    public TlsReport check(Path file, @Nullable Path key) {
        boolean directory = Files.isDirectory(file);
        Path usualKeyFile = usualKeyFile(file);
        Path chosen = key != null || !Files.exists(usualKeyFile) ? key : usualKeyFile;
        TlsConfig.Certificates source = directory
                ? new TlsConfig.Certificates(null, null, file, List.of())
                : new TlsConfig.Certificates(file, chosen, null, List.of());
        TlsConfig singleCertificate =
                new TlsConfig(List.of(source), null, TlsConfig.UnknownName.DEFAULT, config.checkNanos(), null, null);
        CertificateStore store = CertificateStore.forCheck(singleCertificate, clockMillis);
        store.checkFiles();
        return store.report();
    }

    /**
     * Returns the usual key file of a certificate file: {@code NAME.key} for {@code NAME.pem}, {@code privkey.pem} for
     * {@code fullchain.pem}.
     */
    private static Path usualKeyFile(Path file) {
        String name = String.valueOf(file.getFileName());
        int dot = name.lastIndexOf('.');
        return file.resolveSibling(
                name.equals("fullchain.pem") ? "privkey.pem" : (dot < 0 ? name : name.substring(0, dot)) + ".key");
    }

    /** Stops the threads and releases the contexts. Existing connections keep their contexts. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (fileChecks != null) {
                fileChecks.shutdownNow();
            }
            if (contextExecutor != null) {
                contextExecutor.shutdownNow();
            }
            contexts.forEach(ServerContexts::close);
        } finally {
            lock.unlock();
        }
    }
}
