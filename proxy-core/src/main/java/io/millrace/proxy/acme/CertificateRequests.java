package io.millrace.proxy.acme;

import io.millrace.proxy.config.tls.AcmeConfig;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests of a worker for certificates on demand. Handshakes wait until the launcher has a certificate for the
 * name, or refuses it.
 *
 * <p>A request is an empty file, which the launcher deletes when it has decided. Confined to its executor, except
 * {@link #ask}.
 */
public final class CertificateRequests {
    private static final Logger log = LoggerFactory.getLogger(CertificateRequests.class);

    private static final long POLL_MILLIS = 100;

    /** Time during which a refused name is not requested again. */
    private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(60);

    private static final int REFUSED_MAX = 10_000;

    /** Time after which a request is withdrawn if the launcher has not processed it. */
    private static final long ABANDONED_NANOS = TimeUnit.MINUTES.toNanos(10);

    /**
     * The handshakes that wait for the certificate of one name. After their time limit the list is empty, but the entry
     * remains until the launcher has decided.
     */
    private static final class Waiting {
        final long endNanos;
        final List<Runnable> callbacks = new ArrayList<>();

        Waiting(long endNanos) {
            this.endNanos = endNanos;
        }
    }

    private final ScheduledExecutorService executor;
    private final LongSupplier clockNanos;
    private final Runnable loadNewFiles;
    private final Map<String, Waiting> waiting = new LinkedHashMap<>();
    private final Map<String, Long> refusedNanos = new LinkedHashMap<>();
    private boolean polling;

    /** @param loadNewFiles lets the certificate store load new files; called on the executor */
    public CertificateRequests(ScheduledExecutorService executor, LongSupplier clockNanos, Runnable loadNewFiles) {
        this.executor = executor;
        this.clockNanos = clockNanos;
        this.loadNewFiles = loadNewFiles;
    }

    /** Returns true if a certificate on demand is possible for the name in a handshake. */
    public static boolean isPossible(@Nullable AcmeConfig config, @Nullable String name) {
        return config != null
                && config.onDemand() != null
                && config.storage() != null
                && name != null
                && !name.startsWith("*")
                && AcmeConfig.isIssuable(name);
    }

    /**
     * Requests a certificate from the launcher. Thread-safe.
     *
     * @param config configuration for which {@link #isPossible} is true
     * @param callback called once on the executor: when the launcher has decided, when the time limit has passed, or at
     *     once if the limits permit no request
     */
    public void ask(AcmeConfig config, String name, Runnable callback) {
        AcmeConfig.OnDemand limits = config.onDemand();
        AcmeFiles files = AcmeFiles.of(config);
        if (limits == null || files == null) {
            throw new IllegalArgumentException("no certificates on demand");
        }
        executor.execute(() -> begin(files, limits, name, callback));
    }

    private void begin(AcmeFiles files, AcmeConfig.OnDemand limits, String name, Runnable callback) {
        long nowNanos = clockNanos.getAsLong();
        Long refused = refusedNanos.get(name);
        Waiting existing = waiting.get(name);
        if (existing != null && existing.endNanos - nowNanos > 0) {
            existing.callbacks.add(callback);
            return;
        }
        // Requests without waiting handshakes count too, since the launcher still processes them.
        if (existing != null
                || (refused != null && nowNanos - refused < REFUSED_NANOS)
                || waiting.size() >= limits.pendingMax()) {
            callback.run();
            return;
        }
        try {
            Files.createFile(files.requests().resolve(name));
        } catch (FileAlreadyExistsException e) {
            log.debug("a certificate for {} has already been requested", name);
        } catch (IOException e) {
            log.warn("ACME: a certificate for {} cannot be requested: {}", name, e.toString());
            suppress(name, nowNanos);
            callback.run();
            return;
        }
        Waiting added = new Waiting(nowNanos + limits.waitNanos());
        added.callbacks.add(callback);
        waiting.put(name, added);
        if (!polling) {
            polling = true;
            poll(files);
        }
    }

    private void poll(AcmeFiles files) {
        long nowNanos = clockNanos.getAsLong();
        List<Runnable> finished = new ArrayList<>();
        boolean hasDecisions = false;
        for (Iterator<Map.Entry<String, Waiting>> each = waiting.entrySet().iterator(); each.hasNext(); ) {
            Map.Entry<String, Waiting> entry = each.next();
            Waiting wait = entry.getValue();
            Path request = files.requests().resolve(entry.getKey());
            boolean answered = !Files.exists(request);
            if (!answered && wait.endNanos - nowNanos > 0) {
                continue;
            }
            if (!wait.callbacks.isEmpty()) {
                hasDecisions |= answered;
                suppress(entry.getKey(), nowNanos);
                finished.addAll(wait.callbacks);
                wait.callbacks.clear();
            }
            if (answered || nowNanos - wait.endNanos > ABANDONED_NANOS) {
                withdraw(request);
                each.remove();
            }
        }
        if (hasDecisions) {
            loadNewFiles.run();
        }
        finished.forEach(Runnable::run);
        polling = !waiting.isEmpty();
        if (polling) {
            var unused = executor.schedule(() -> poll(files), POLL_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private static void withdraw(Path request) {
        try {
            Files.deleteIfExists(request);
        } catch (IOException e) {
            log.warn("ACME: the request file {} cannot be deleted: {}", request, e.toString());
        }
    }

    /**
     * Records that a name is not requested again for some time. If a certificate was issued meanwhile, the record has
     * no effect: handshakes find the certificate first.
     */
    private void suppress(String name, long nowNanos) {
        refusedNanos.remove(name);
        if (refusedNanos.size() >= REFUSED_MAX) {
            Iterator<String> oldest = refusedNanos.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        refusedNanos.put(name, nowNanos);
    }
}
