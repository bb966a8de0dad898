package io.millrace.proxy.tls;

import io.millrace.proxy.config.tls.ServerTlsConfig;
import io.millrace.proxy.config.tls.TlsConfig;
import io.millrace.proxy.config.tls.TlsConfig.Certificates;
import io.millrace.proxy.config.tls.TlsConfig.NameSettings;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.tls.CertificateFault.Kind;
import io.millrace.proxy.tls.CertificateIndex.Candidate;
import io.millrace.proxy.tls.ocsp.OcspTarget;
import io.millrace.proxy.tls.ocsp.Stapling;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLogger;

/**
 * The certificates of a proxy, loaded from files and reloaded when a file changes.
 *
 * <p>A file that cannot be used is reported and counted, and does not affect other certificates. If an earlier
 * version was usable, that version remains in use. Methods that load or check files block, and run in one thread at
 * a time. Any thread may call {@link #index}.
 */
final class CertificateStore {
    private static final Logger log = LoggerFactory.getLogger(CertificateStore.class);

    /**
     * Time after a change in which a file may still be incomplete. If such a file cannot be used, the next check
     * reads it again before it is reported.
     */
    private static final long SETTLE_MILLIS = 2000;

    /**
     * Limit of certificates up to which the TLS library checks each certificate when it is loaded. With more
     * certificates, a new certificate is checked only when a client first requests it, because the checks take time.
     */
    private static final int CHECKED_AT_LOAD_MAX = 256;

    private static final long DAY_MILLIS = TimeUnit.DAYS.toMillis(1);

    /** The files of one certificate, and their state. Guarded by the lock of the store. */
    private static final class Entry {
        final CertificateFiles files;
        final List<String> names;
        final NameSettings settings;

        @Nullable
        FileStamp certificateStamp;

        @Nullable
        FileStamp keyStamp;

        /** The version in use; null if no version has been usable. */
        @Nullable
        ServerCertificate good;

        @Nullable
        CertificateFault fault;

        /** Start of the current fault, in epoch milliseconds. */
        long faultSinceMillis;
        /** Time of the last warning about the expiry, in epoch milliseconds; 0 for none. */
        long warnedMillis;

        /** Index in {@code tls.certificates} of the configuration. May change with a reload. */
        int element;

        Entry(Key key) {
            this.files = key.files;
            this.names = key.names;
            this.settings = key.settings;
        }

        /** Returns the configured names, or those of the certificate if none are configured. */
        List<String> usedFor(ServerCertificate certificate) {
            return names.isEmpty() ? certificate.facts().names() : names;
        }
    }

    private record Key(CertificateFiles files, List<String> names, NameSettings settings) {}

    /**
     * The log for faults of files. Logs nothing in a store that only checks files, whose report contains the faults.
     */
    private final Logger fileLog;

    private final ReentrantLock lock = new ReentrantLock();
    private final LongSupplier clockMillis;
    private final CertificateReader reader = new CertificateReader();
    private final List<ServerContexts> contexts = new ArrayList<>();
    /** Number of faults since the start, by kind. */
    private final Map<Kind, Long> faultsSeen = new EnumMap<>(Kind.class);

    private Map<Key, Entry> entries = new LinkedHashMap<>();
    private final Map<Path, String> brokenDirectories = new LinkedHashMap<>();
    private TlsConfig config;
    private @Nullable CertificateCopies copies;
    /** True after the first check. Certificates that are loaded later are logged. */
    private boolean loaded;

    private EventSink events = EventSink.NONE;
    private volatile CertificateIndex index = CertificateIndex.EMPTY;
    private volatile TlsReport report = TlsReport.EMPTY;

    CertificateStore(TlsConfig config, LongSupplier clockMillis) {
        this(config, clockMillis, log);
    }

    CertificateStore(TlsConfig config, LongSupplier clockMillis, Logger fileLog) {
        this.config = config;
        this.clockMillis = clockMillis;
        this.fileLog = fileLog;
    }

    /** Sets the receiver of events for certificates that expire soon. Call before {@link #checkFiles}. */
    void events(EventSink sink) {
        events = sink;
    }

    /** Creates a store that only checks files. Faults are in its report and are not logged. */
    static CertificateStore forCheck(TlsConfig config, LongSupplier clockMillis) {
        return new CertificateStore(config, clockMillis, NOPLogger.NOP_LOGGER);
    }

    /** The current index of certificates by name. */
    CertificateIndex index() {
        return index;
    }

    /** The state of all certificates as of the last check. */
    TlsReport report() {
        return report;
    }

    /** Registers TLS contexts, which are updated after each change of certificates from now on. */
    void attach(ServerContexts added) {
        lock.lock();
        try {
            contexts.add(added);
            added.requestStaples(index);
        } finally {
            lock.unlock();
        }
    }

    /** Sets the copies of automatic certificates, which are used if the storage is missing; null for none. */
    void copies(@Nullable CertificateCopies next) {
        lock.lock();
        try {
            copies = next;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Applies new settings. Loads certificates that are new in the settings, and keeps unchanged certificates. Blocks.
     */
    void configure(TlsConfig next) {
        lock.lock();
        try {
            boolean same = config.equals(next);
            config = next;
            check(!same);
        } finally {
            lock.unlock();
        }
    }

    /** Loads the files that changed since the last check. Blocks. */
    void checkFiles() {
        lock.lock();
        try {
            check(false);
        } finally {
            lock.unlock();
        }
    }

    private void check(boolean publishAnyway) {
        long nowMillis = clockMillis.getAsLong();
        Map<Key, Entry> next = expand(nowMillis);
        boolean changed = publishAnyway || !loaded || !next.keySet().equals(entries.keySet());
        entries = next;
        boolean checksAll = next.size() <= CHECKED_AT_LOAD_MAX;
        List<Entry> changedEntries = next.values().parallelStream()
                .filter(CertificateStore::isChanged)
                .toList();
        long read = changedEntries.parallelStream()
                .filter(entry -> read(entry, nowMillis, checksAll))
                .count();
        changedEntries.forEach(this::logChange);
        saveCopies(changedEntries);
        if (read > 0) {
            reader.forgetShared();
        }
        changed |= !changedEntries.isEmpty() || expire(nowMillis);
        if (changed) {
            publish(nowMillis);
        }
        warnExpiring(nowMillis);
        if (changed || report.seenMillis() + TimeUnit.MINUTES.toMillis(1) < nowMillis) {
            report = describe(nowMillis);
        }
        loaded = true;
    }

    /** Returns an entry for each certificate of the settings. Existing entries keep their state. */
    private Map<Key, Entry> expand(long nowMillis) {
        Map<Key, Entry> next = new LinkedHashMap<>();
        for (int i = 0; i < config.certificates().size(); i++) {
            Certificates source = config.certificates().get(i);
            for (CertificateFiles files : filesOf(source, nowMillis)) {
                Key key = new Key(files, source.names(), source.settings());
                Entry known = entries.get(key);
                Entry entry = known == null ? new Entry(key) : known;
                if (next.putIfAbsent(key, entry) == null) {
                    entry.element = i;
                }
            }
        }
        return next;
    }

    private void saveCopies(List<Entry> changedEntries) {
        CertificateCopies localCopies = copies;
        if (localCopies == null) {
            return;
        }
        for (Entry entry : changedEntries) {
            if (entry.good != null && entry.fault == null) {
                localCopies.keep(entry.good);
            }
        }
    }

    private List<CertificateFiles> filesOf(Certificates source, long nowMillis) {
        Path directory = source.directory();
        Path certificate = source.certificate();
        if (directory == null) {
            Path key = source.key();
            return certificate == null
                    ? List.of()
                    : List.of(new CertificateFiles(certificate, key == null ? certificate : key));
        }
        try {
            List<CertificateFiles> files = CertificateFiles.in(directory);
            if (files.isEmpty() && entries.keySet().stream().anyMatch(key -> isIn(directory, key))) {
                // An unmounted storage appears as an empty directory.
                throw new IOException("the directory is empty now");
            }
            brokenDirectories.remove(directory);
            return withCopies(directory, files, true, nowMillis);
        } catch (IOException | RuntimeException e) {
            if (brokenDirectories.put(directory, String.valueOf(e)) == null) {
                faultsSeen.merge(Kind.UNREADABLE, 1L, Long::sum);
                fileLog.error(
                        "TLS: directory {} cannot be read; the certificates loaded before stay in use: {}",
                        directory,
                        e);
            }
            List<CertificateFiles> before = entries.keySet().stream()
                    .filter(key -> isIn(directory, key))
                    .map(Key::files)
                    .toList();
            return withCopies(directory, before, false, nowMillis);
        }
    }

    private List<CertificateFiles> withCopies(
            Path directory, List<CertificateFiles> files, boolean readable, long nowMillis) {
        CertificateCopies localCopies = copies;
        if (localCopies == null || !directory.equals(localCopies.storage())) {
            return files;
        }
        List<CertificateFiles> all = new ArrayList<>(files);
        all.addAll(localCopies.missingFrom(files, readable, nowMillis));
        return all;
    }

    private static boolean isIn(Path directory, Key key) {
        return key.files().certificate().startsWith(directory);
    }

    private static boolean isChanged(Entry entry) {
        return !FileStamp.of(entry.files.certificate()).equals(entry.certificateStamp)
                || (!entry.files.key().equals(entry.files.certificate())
                        && !FileStamp.of(entry.files.key()).equals(entry.keyStamp));
    }

    /**
     * Reads the files of an entry. Returns false if the file may be incomplete, so that the next check reads it again.
     */
    private boolean read(Entry entry, long nowMillis, boolean checksAll) {
        // The stamps are read before the content, so that the next check detects a change that happens in between.
        FileStamp certificateStamp = FileStamp.of(entry.files.certificate());
        FileStamp keyStamp = FileStamp.of(entry.files.key());
        ServerCertificate before = entry.good;
        try {
            ServerCertificate now = reader.read(entry.files, nowMillis);
            if (now.isExpired(nowMillis)) {
                if (before != null && !before.isExpired(nowMillis)) {
                    throw expired(now);
                }
                setFault(entry, expired(now), nowMillis);
            } else {
                entry.fault = null;
            }
            if (before != null || checksAll) {
                checkWithTls(now, entry.settings);
            }
            entry.good = now;
            entry.warnedMillis = 0;
        } catch (CertificateFault fault) {
            boolean unsettled = certificateStamp.ageMillis(nowMillis) < SETTLE_MILLIS
                    || keyStamp.ageMillis(nowMillis) < SETTLE_MILLIS;
            if (before != null && unsettled && entry.fault == null) {
                return false;
            }
            setFault(entry, fault, nowMillis);
        }
        entry.certificateStamp = certificateStamp;
        entry.keyStamp = keyStamp;
        return true;
    }

    private static CertificateFault expired(ServerCertificate certificate) {
        return new CertificateFault(
                Kind.EXPIRED,
                certificate.files().certificate(),
                "expired on " + Instant.ofEpochSecond(certificate.facts().expirySeconds()));
    }

    /** Checks a certificate with the TLS library before clients can receive it. */
    private static void checkWithTls(ServerCertificate certificate, NameSettings settings) throws CertificateFault {
        try {
            SslContext context =
                    ServerContexts.build(List.of(certificate), settings.applyTo(ServerTlsConfig.DEFAULTS), false);
            ReferenceCountUtil.release(context);
        } catch (SSLException e) {
            throw new CertificateFault(
                    Kind.UNSUPPORTED,
                    certificate.files().certificate(),
                    "the TLS library rejects the certificate: " + e.getMessage());
        }
    }

    private static void setFault(Entry entry, CertificateFault fault, long nowMillis) {
        if (entry.fault == null) {
            entry.faultSinceMillis = nowMillis;
        }
        entry.fault = fault;
    }

    private void logChange(Entry entry) {
        CertificateFault fault = entry.fault;
        if (entry.certificateStamp == null || fault == null) {
            if (loaded && fault == null && entry.good != null) {
                fileLog.info("TLS: loaded {}", entry.files.certificate());
            }
            return;
        }
        faultsSeen.merge(fault.kind(), 1L, Long::sum);
        fileLog.error("TLS: {}: {}; {}", fault.file(), fault.getMessage(), consequence(entry, clockMillis.getAsLong()));
    }

    private static String consequence(Entry entry, long nowMillis) {
        ServerCertificate good = entry.good;
        if (good == null) {
            return "the certificate is not used";
        }
        return good.isExpired(nowMillis)
                ? "the certificate is used only for names without another certificate"
                : "the version loaded before stays in use";
    }

    /** Marks certificates that have expired since the last check. Returns true if there are any. */
    private boolean expire(long nowMillis) {
        boolean any = false;
        for (Entry entry : entries.values()) {
            ServerCertificate good = entry.good;
            if (good != null && entry.fault == null && good.isExpired(nowMillis)) {
                setFault(entry, expired(good), nowMillis);
                logChange(entry);
                any = true;
            }
        }
        return any;
    }

    /** Logs a warning and records an event for each certificate that expires soon or has expired, once a day. */
    private void warnExpiring(long nowMillis) {
        for (Entry entry : entries.values()) {
            ServerCertificate good = entry.good;
            boolean warnedRecently = entry.warnedMillis > 0 && entry.warnedMillis + DAY_MILLIS > nowMillis;
            if (good == null || warnedRecently) {
                continue;
            }
            long leftMillis = good.facts().expirySeconds() * 1000 - nowMillis;
            if (good.facts().endsSoon(nowMillis / 1000)) {
                entry.warnedMillis = nowMillis;
                fileLog.warn(
                        "TLS: certificate {} for {} {} on {}; renew it",
                        entry.files.certificate(),
                        entry.usedFor(good).isEmpty()
                                ? "no name"
                                : entry.usedFor(good).get(0),
                        leftMillis <= 0 ? "expired" : "expires in " + leftMillis / DAY_MILLIS + " days,",
                        Instant.ofEpochSecond(good.facts().expirySeconds()));
                events.record(expiring(entry, good, nowMillis, leftMillis));
            }
        }
    }

    private static Event expiring(Entry entry, ServerCertificate good, long nowMillis, long leftMillis) {
        List<String> names = entry.usedFor(good);
        String file = entry.files.certificate().toString();
        return new Event(
                nowMillis,
                EventKind.CERTIFICATE_EXPIRING,
                names.isEmpty() ? file : names.get(0),
                (leftMillis <= 0 ? "expired" : "expires in " + leftMillis / DAY_MILLIS + " days,") + " on "
                        + Instant.ofEpochSecond(good.facts().expirySeconds()) + ": " + file);
    }

    private void publish(long nowMillis) {
        List<Candidate> candidates = new ArrayList<>();
        for (Entry entry : entries.values()) {
            ServerCertificate good = entry.good;
            if (good != null) {
                candidates.add(new Candidate(good, entry.usedFor(good), entry.settings));
            }
        }
        CertificateIndex next = CertificateIndex.of(
                candidates,
                config.defaultName(),
                config.unknownName() == TlsConfig.UnknownName.REJECT,
                nowMillis,
                index);
        String name = config.defaultName();
        if (name != null && next.findExactly(name) == null && !candidates.isEmpty()) {
            fileLog.warn(
                    "TLS: tls.default_certificate: no certificate has the name {}; the first certificate is used",
                    name);
        }
        index = next;
        for (ServerContexts each : contexts) {
            each.retain(next);
            each.requestStaples(next);
        }
    }

    /** Adds the fingerprints of certificates whose handshakes send a staple. */
    void addStapled(Set<String> sha256) {
        lock.lock();
        try {
            for (CertificateSet set : index.sets()) {
                if (contexts.stream().anyMatch(each -> each.staples(set))) {
                    sha256.add(set.stapledSha256());
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Sets the current staple of a certificate, for new handshakes. */
    void updateStaple(String sha256, Stapling stapling) {
        for (CertificateSet set : index.sets()) {
            OcspTarget target = set.ocspTarget();
            if (target != null && target.sha256().equals(sha256)) {
                set.staple(stapling.staple(target));
            }
        }
    }

    private TlsReport describe(long nowMillis) {
        List<TlsReport.Line> lines = new ArrayList<>(entries.size());
        for (Entry entry : entries.values()) {
            ServerCertificate good = entry.good;
            CertificateFault fault = entry.fault;
            lines.add(new TlsReport.Line(
                    entry.files,
                    good == null ? entry.names : entry.usedFor(good),
                    entry.settings.texts(),
                    entry.element,
                    good == null ? null : good.facts(),
                    good == null ? 0 : good.loadedMillis() / 1000,
                    fault == null ? null : fault.kind(),
                    fault == null ? copyNote(entry) : fault.file() + ": " + fault.getMessage(),
                    fault == null ? 0 : entry.faultSinceMillis / 1000,
                    stapled(entry)));
        }
        return new TlsReport(lines, Map.copyOf(brokenDirectories), new EnumMap<>(faultsSeen), nowMillis);
    }

    /** Returns a note if the certificate is a local copy; null for other certificates. */
    private @Nullable String copyNote(Entry entry) {
        return copies == null || !copies.isCopy(entry.files)
                ? null
                : copies.original(entry.files) + ": cannot be read; a local copy is in use";
    }

    private @Nullable Boolean stapled(Entry entry) {
        return contexts.isEmpty()
                ? null
                : contexts.stream()
                        .anyMatch(each -> each.settings(entry.settings).ocspStapling());
    }
}
