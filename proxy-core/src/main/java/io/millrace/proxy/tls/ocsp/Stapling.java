package io.millrace.proxy.tls.ocsp;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.tls.ocsp.OcspFault.Kind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests and renews OCSP staples, for all certificates that name a responder. A staple is renewed after half of
 * its validity. After a failure, requests are repeated with growing pauses. None of this runs on event loops.
 *
 * <p>A valid staple is kept until it expires or a newer staple replaces it, even if later requests fail. Thread-safe.
 * Uses no timer and no file until a certificate names a responder.
 */
public final class Stapling {
    private static final Logger log = LoggerFactory.getLogger(Stapling.class);
    /** Interval at which expired staples and due requests are searched. */
    private static final long TICK_MILLIS = 1000;
    /** Time limit of a request. */
    private static final long TIMEOUT_MILLIS = 10_000;
    /** Pause before the next request after the first failure, and shortest time between two requests for a staple. */
    private static final long PAUSE_MIN_MILLIS = 60_000;
    /** Limit of the pause, which doubles with each failure. */
    private static final long PAUSE_MAX_MILLIS = 3_600_000;
    /** Limit of doublings, which prevents an overflow. So many doublings exceed the limit of the pause. */
    private static final int DOUBLINGS_MAX = 6;
    /** Limit of requests in progress. */
    private static final int REQUESTS_MAX = 8;
    /** Limit of requests in progress to one responder. */
    private static final int REQUESTS_PER_RESPONDER_MAX = 2;

    private static final long FAULT_QUIET_NANOS = TimeUnit.MINUTES.toNanos(10);

    /** The state of one certificate. Guarded by the lock. */
    private static final class Entry {
        final OcspTarget target;
        final Responder responder;

        @Nullable
        Staple staple;

        @Nullable
        OcspFault fault;

        long faultSinceMillis;
        /** Earliest time of the next request. */
        long nextMillis;
        /** Number of consecutive failed requests. */
        int failures;
        /** True while a request is in progress. */
        boolean asking;

        Entry(OcspTarget target, Responder responder) {
            this.target = target;
            this.responder = responder;
        }
    }

    /**
     * The state of one responder, which may serve many certificates. If the responder is unreachable, it is not queried
     * for any certificate during a pause. Guarded by the lock.
     */
    private static final class Responder {
        /** Number of requests in progress. */
        int asking;

        /** Number of consecutive requests for which the responder was unreachable. */
        int failures;

        long pausedUntilMillis;
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Entry> entries = new HashMap<>();
    private final Map<String, Responder> responders = new HashMap<>();
    private final Map<Kind, LongAdder> faults = new ConcurrentHashMap<>();
    private final LongAdder answers = new LongAdder();
    private final FaultLog faultLog = new FaultLog(log, FAULT_QUIET_NANOS, System::nanoTime);
    private final @Nullable StapleFiles files;
    private final @Nullable ScheduledExecutorService executor;
    private final LongSupplier clockMillis;
    private final Consumer<String> changed;
    private final OcspTransport transport;
    /** Earliest time at which {@link #tick} has something to do. */
    private long earliestMillis;

    /** Number of requests in progress. */
    private int asking;

    private boolean started;

    /**
     * Creates the stapling without certificates. {@link #staple} adds them.
     *
     * @param directory directory that keeps answers across restarts; null to keep them in memory only
     * @param executor runs a timer after the first certificate was added
     * @param changed called with the fingerprint of a certificate when its staple was replaced or has expired
     */
    public Stapling(
            @Nullable Path directory,
            ScheduledExecutorService executor,
            LongSupplier clockMillis,
            Consumer<String> changed) {
        this(directory, executor, clockMillis, changed, new HttpOcspTransport(TIMEOUT_MILLIS));
    }

    /**
     * @param executor null if a test calls {@link #tick} itself
     */
    Stapling(
            @Nullable Path directory,
            @Nullable ScheduledExecutorService executor,
            LongSupplier clockMillis,
            Consumer<String> changed,
            OcspTransport transport) {
        this.files = directory == null ? null : new StapleFiles(directory);
        this.executor = executor;
        this.clockMillis = clockMillis;
        this.changed = changed;
        this.transport = transport;
    }

    /**
     * Returns the staple of a certificate; null if there is none yet. The first call for a certificate starts its
     * requests. May read a file.
     */
    public @Nullable Staple staple(OcspTarget target) {
        lock.lock();
        try {
            long nowMillis = clockMillis.getAsLong();
            Entry entry = entries.get(target.sha256());
            if (entry == null) {
                start(nowMillis);
                entry = new Entry(target, responders.computeIfAbsent(authority(target), each -> new Responder()));
                entries.put(target.sha256(), entry);
                restore(entry, nowMillis);
                earliestMillis = Math.min(earliestMillis, entry.nextMillis);
            }
            Staple staple = entry.staple;
            return staple != null && staple.isUsable(nowMillis) ? staple : null;
        } finally {
            lock.unlock();
        }
    }

    private void start(long nowMillis) {
        if (started) {
            return;
        }
        started = true;
        if (files != null) {
            files.deleteOld(nowMillis);
        }
        if (executor != null) {
            try {
                var unused = executor.scheduleWithFixedDelay(
                        this::tickSafely, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                log.debug("the server was closed while certificates were loaded", e);
            }
        }
    }

    private static String authority(OcspTarget target) {
        try {
            return String.valueOf(URI.create(target.responder()).getAuthority());
        } catch (IllegalArgumentException e) {
            return target.responder();
        }
    }

    private void restore(Entry entry, long nowMillis) {
        byte[] answer = files == null ? null : files.read(entry.target.sha256());
        if (answer == null) {
            return;
        }
        try {
            X509Certificate[] chain = chain(entry.target);
            Staple staple =
                    OcspResponseVerifier.verified(answer, new OcspRequest(chain[0], chain[1]), chain[1], nowMillis);
            entry.staple = staple;
            entry.nextMillis = staple.refreshMillis(nowMillis);
        } catch (OcspFault | GeneralSecurityException e) {
            log.debug("the stored OCSP answer for {} cannot be used", entry.target.name(), e);
        }
    }

    private static X509Certificate[] chain(OcspTarget target) throws GeneralSecurityException, OcspFault {
        X509Certificate[] chain = target.chain().decode();
        if (chain.length < 2) {
            throw new OcspFault(
                    Kind.MISMATCH, "the file lacks the certificate of the issuer, which an OCSP request needs");
        }
        return chain;
    }

    /** Removes the state of certificates that are no longer in use. */
    public void retain(Set<String> sha256) {
        lock.lock();
        try {
            entries.keySet().retainAll(sha256);
            responders
                    .values()
                    .retainAll(entries.values().stream()
                            .map(entry -> entry.responder)
                            .collect(Collectors.toSet()));
        } finally {
            lock.unlock();
        }
    }

    /** Returns true if no staple is requested for any certificate. */
    public boolean isIdle() {
        lock.lock();
        try {
            return entries.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the status of a certificate; null if no staple is requested for it. */
    public @Nullable StapleStatus status(String sha256) {
        lock.lock();
        try {
            Entry entry = entries.get(sha256);
            if (entry == null) {
                return null;
            }
            Staple staple = entry.staple;
            OcspFault fault = entry.fault;
            return new StapleStatus(
                    staple == null ? 0 : staple.nextUpdateMillis() / 1000,
                    fault == null ? null : fault.getMessage(),
                    fault == null ? 0 : entry.faultSinceMillis / 1000);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of certificates with a staple, or without a staple if {@code stapled} is false. */
    public long count(boolean stapled) {
        lock.lock();
        try {
            return entries.values().stream()
                    .filter(entry -> (entry.staple != null) == stapled)
                    .count();
        } finally {
            lock.unlock();
        }
    }

    /** The number of answers since the start that were accepted as staples. */
    public long answers() {
        return answers.sum();
    }

    /** The number of requests since the start that failed with this kind of fault. */
    public long faults(Kind kind) {
        LongAdder adder = faults.get(kind);
        return adder == null ? 0 : adder.sum();
    }

    private void tickSafely() {
        try {
            tick();
        } catch (RuntimeException e) {
            log.error("TLS: the requests to OCSP responders failed with an internal error and will be repeated", e);
        }
    }

    /** Discards expired staples, and starts the requests that are due. */
    void tick() {
        long nowMillis = clockMillis.getAsLong();
        List<Entry> due = new ArrayList<>();
        List<String> ended = new ArrayList<>();
        lock.lock();
        try {
            if (nowMillis < earliestMillis) {
                return;
            }
            earliestMillis = Long.MAX_VALUE;
            for (Entry entry : entries.values()) {
                Staple staple = entry.staple;
                if (staple != null && !staple.isUsable(nowMillis)) {
                    entry.staple = null;
                    ended.add(entry.target.sha256());
                } else if (staple != null) {
                    // The staple becomes unusable at this time or later. From then on, each tick checks whether it is
                    // usable.
                    earliestMillis = Math.min(earliestMillis, staple.nextUpdateMillis() - PAUSE_MIN_MILLIS);
                }
                if (isDue(entry, nowMillis)) {
                    begin(entry);
                    due.add(entry);
                } else if (!entry.asking) {
                    earliestMillis =
                            Math.min(earliestMillis, Math.max(entry.nextMillis, entry.responder.pausedUntilMillis));
                }
            }
        } finally {
            lock.unlock();
        }
        ended.forEach(changed);
        due.forEach(this::sendRequest);
    }

    private boolean isDue(Entry entry, long nowMillis) {
        return !entry.asking
                && entry.nextMillis <= nowMillis
                && entry.responder.pausedUntilMillis <= nowMillis
                && asking < REQUESTS_MAX
                && entry.responder.asking < REQUESTS_PER_RESPONDER_MAX;
    }

    /** Counts the start of a request. */
    private void begin(Entry entry) {
        entry.asking = true;
        entry.responder.asking++;
        asking++;
    }

    private void sendRequest(Entry entry) {
        OcspTarget target = entry.target;
        try {
            X509Certificate[] chain = chain(target);
            OcspRequest request = new OcspRequest(chain[0], chain[1]);
            var unused = transport
                    .post(target.responder(), request.encoded())
                    .thenApply(answer -> verified(answer, request, chain[1]))
                    .whenComplete((staple, failure) -> {
                        if (failure == null) {
                            answered(entry, staple);
                        } else {
                            failed(entry, fault(failure));
                        }
                    });
        } catch (OcspFault e) {
            failed(entry, e);
        } catch (GeneralSecurityException | RuntimeException e) {
            failed(entry, new OcspFault(Kind.UNREACHABLE, "the OCSP request cannot be created: " + e.getMessage()));
        }
    }

    private Staple verified(byte[] answer, OcspRequest request, X509Certificate issuer) {
        try {
            return OcspResponseVerifier.verified(answer, request, issuer, clockMillis.getAsLong());
        } catch (OcspFault e) {
            throw new CompletionException(e);
        }
    }

    private static OcspFault fault(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof OcspFault known) {
                return known;
            }
        }
        return new OcspFault(Kind.UNREACHABLE, String.valueOf(failure.getMessage()));
    }

    private void answered(Entry entry, Staple staple) {
        answers.increment();
        long nowMillis = clockMillis.getAsLong();
        boolean recovered;
        boolean newer;
        lock.lock();
        try {
            end(entry);
            recovered = entry.fault != null;
            entry.fault = null;
            entry.failures = 0;
            entry.responder.failures = 0;
            entry.responder.pausedUntilMillis = 0;
            // An older answer does not replace a newer staple.
            Staple before = entry.staple;
            newer = before == null || staple.isNewerThan(before);
            Staple kept = before == null || newer ? staple : before;
            entry.staple = kept;
            entry.nextMillis = Math.max(nowMillis + PAUSE_MIN_MILLIS, kept.refreshMillis(nowMillis));
        } finally {
            lock.unlock();
        }
        if (recovered) {
            log.info("TLS: the OCSP responder {} answers for {} again", entry.target.responder(), entry.target.name());
        }
        if (newer) {
            store(entry.target, staple);
            changed.accept(entry.target.sha256());
        }
    }

    private void store(OcspTarget target, Staple staple) {
        if (files == null) {
            return;
        }
        try {
            files.write(target.sha256(), staple.der());
        } catch (IOException e) {
            faultLog.report("TLS: an OCSP answer cannot be stored", e.toString(), null);
        }
    }

    private void failed(Entry entry, OcspFault fault) {
        faults.computeIfAbsent(fault.kind(), each -> new LongAdder()).increment();
        long nowMillis = clockMillis.getAsLong();
        long untilMillis;
        lock.lock();
        try {
            end(entry);
            if (entry.fault == null) {
                entry.faultSinceMillis = nowMillis;
            }
            entry.fault = fault;
            entry.nextMillis = nowMillis + pauseMillis(++entry.failures);
            if (fault.kind() == Kind.UNREACHABLE) {
                entry.responder.pausedUntilMillis = nowMillis + pauseMillis(++entry.responder.failures);
            }
            untilMillis = entry.staple == null ? 0 : entry.staple.nextUpdateMillis();
        } finally {
            lock.unlock();
        }
        faultLog.report(
                "TLS: no OCSP staple from " + authority(entry.target),
                "for " + entry.target.name() + ": " + fault.getMessage()
                        + (untilMillis == 0
                                ? "; handshakes have no staple"
                                : "; the staple valid until " + Instant.ofEpochMilli(untilMillis) + " stays in use"),
                null);
    }

    /** Counts the end of a request. The next tick then starts requests that are due. */
    private void end(Entry entry) {
        entry.asking = false;
        entry.responder.asking--;
        asking--;
        earliestMillis = 0;
    }

    /** Returns the pause after failures: one minute, doubled with each failure, up to one hour. */
    private static long pauseMillis(int failures) {
        return Math.min(PAUSE_MAX_MILLIS, PAUSE_MIN_MILLIS << Math.min(failures - 1, DOUBLINGS_MAX));
    }
}
