package io.millrace.acme;

import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.config.AcmeConfig;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the certificates of the configured names valid, and orders those that handshakes wait for.
 *
 * <p>Thread-safe. One thread does all the work; a second one asks which names may have a certificate on demand.
 */
public final class AcmeService implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AcmeService.class);
    private static final long TICK_MILLIS = 200;
    private static final int ASKS_MAX = 1000;
    private static final long ADVICE_RETRY_SECONDS = 3600;

    /** Makes the client of a configuration. */
    interface ClientFactory {
        CertificateIssuer client(AcmeConfig config, AcmeStorage storage);
    }

    private final Supplier<@Nullable AcmeConfig> settings;
    private final LongSupplier clockMillis;
    private final ClientFactory clients;
    private final ScheduledExecutorService thread;
    private final ExecutorService asking;
    private final Random random = new Random();
    private final AtomicBoolean started = new AtomicBoolean();

    // Confined to the thread from here on.
    private @Nullable AcmeConfig config;
    private @Nullable NameIssuance issuance;
    private @Nullable OnDemandNames onDemand;
    private final Map<String, AcmeRecord> records = new HashMap<>();
    private final Map<String, Long> adviceSeconds = new HashMap<>();
    private final Queue<String> urgent = new ArrayDeque<>();
    private final Map<String, CompletableFuture<AcmeRecord>> forced = new HashMap<>();
    private long checkedSeconds;
    private @Nullable String complaint;

    /**
     * @param settings in force, with a storage; null for none
     */
    public AcmeService(Supplier<@Nullable AcmeConfig> settings, LongSupplier clockMillis) {
        this(settings, clockMillis, (config, storage) -> new AcmeIssuer(config, storage, clockMillis));
    }

    AcmeService(Supplier<@Nullable AcmeConfig> settings, LongSupplier clockMillis, ClientFactory clients) {
        this.settings = settings;
        this.clockMillis = clockMillis;
        this.clients = clients;
        thread = Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("millrace-acme", true));
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                1,
                1,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(ASKS_MAX),
                new DefaultThreadFactory("millrace-acme-ask", true));
        pool.allowCoreThreadTimeOut(true);
        asking = pool;
    }

    /** Makes the storage, so that a worker that starts later finds it. Blocks. */
    public void prepare() {
        AcmeConfig now = settings.get();
        Path storage = now == null ? null : now.storage();
        if (storage != null) {
            try {
                DirectoryStorage.open(storage);
            } catch (IOException e) {
                LOG.error("ACME: tls.acme.storage {} cannot be made: {}", storage, e.toString());
            }
        }
    }

    /** Begins to order; workers must be able to answer challenges. Further calls do nothing. */
    public void start() {
        if (started.compareAndSet(false, true)) {
            thread.scheduleWithFixedDelay(this::tickSafely, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Orders a certificate for a name now, whenever its renewal is due.
     *
     * @return completes with what came of it; fails for a name without automatic certificates
     */
    public CompletableFuture<AcmeRecord> renew(String name) {
        CompletableFuture<AcmeRecord> result = new CompletableFuture<>();
        try {
            thread.execute(() -> {
                AcmeConfig now = configure();
                if (now == null) {
                    result.completeExceptionally(new IllegalArgumentException("tls.acme is not configured"));
                } else if (!isHeld(name) && !now.names().contains(name)) {
                    result.completeExceptionally(new IllegalArgumentException(
                            name + " has no automatic certificate; add it to tls.acme.names"));
                } else {
                    CompletableFuture<AcmeRecord> known = forced.putIfAbsent(name, result);
                    if (known != null) {
                        known.whenComplete((record, failure) -> {
                            if (failure == null) {
                                result.complete(record);
                            } else {
                                result.completeExceptionally(failure);
                            }
                        });
                    } else {
                        urgent.add(name);
                    }
                }
            });
        } catch (RejectedExecutionException e) {
            result.completeExceptionally(new IllegalStateException("the launcher is stopping", e));
        }
        return result;
    }

    private void tickSafely() {
        try {
            tick();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.error("ACME: fault while looking after certificates; it goes on", e);
        }
    }

    /** One step: at most one order. On the ACME thread, or in a test without one. */
    void tick() throws InterruptedException {
        AcmeConfig now = configure();
        NameIssuance orders = issuance;
        if (now == null || orders == null) {
            return;
        }
        long nowSeconds = clockMillis.getAsLong() / 1000;
        OnDemandNames waiting = onDemand;
        if (waiting != null) {
            waiting.poll(this::isHeld);
        }
        String name = urgent.poll();
        if (name != null) {
            order(orders, name, nowSeconds, true);
        } else if (nowSeconds != checkedSeconds) {
            String due = due(now, nowSeconds);
            if (due != null) {
                order(orders, due, nowSeconds, false);
            } else {
                checkedSeconds = nowSeconds;
                advise(orders, now, nowSeconds);
            }
        }
    }

    private void order(NameIssuance orders, String name, long nowSeconds, boolean now) throws InterruptedException {
        AcmeRecord record = orders.order(records.getOrDefault(name, AcmeRecord.of(name)), nowSeconds, now);
        records.put(name, record);
        // The advice on the certificate before says nothing of this one.
        adviceSeconds.remove(name);
        CompletableFuture<AcmeRecord> wanted = forced.remove(name);
        if (wanted != null) {
            wanted.complete(record);
        }
        if (onDemand != null) {
            onDemand.decided(name);
        }
    }

    private boolean isHeld(String name) {
        AcmeRecord record = records.get(name);
        return record != null && record.expirySeconds() > 0;
    }

    /** The first name whose order is due; null for none. */
    private @Nullable String due(AcmeConfig now, long nowSeconds) {
        for (String name : now.names()) {
            if (isDue(records.get(name), nowSeconds)) {
                return name;
            }
        }
        if (now.onDemand() != null) {
            for (AcmeRecord record : records.values()) {
                if (record.expirySeconds() > nowSeconds && isDue(record, nowSeconds)) {
                    return record.name();
                }
            }
        }
        return null;
    }

    private static boolean isDue(@Nullable AcmeRecord record, long nowSeconds) {
        return record == null || (record.renewalSeconds() <= nowSeconds && record.retrySeconds() <= nowSeconds);
    }

    /** Asks about one certificate. */
    private void advise(NameIssuance orders, AcmeConfig now, long nowSeconds) {
        AcmeRecord record = unadvised(now, nowSeconds);
        if (record == null) {
            return;
        }
        NameIssuance.Advised advised = orders.advise(record, nowSeconds);
        adviceSeconds.put(
                record.name(), advised == null ? nowSeconds + ADVICE_RETRY_SECONDS : advised.askAgainSeconds());
        if (advised != null) {
            records.put(record.name(), advised.record());
        }
    }

    /** A certificate whose issuer is to be asked for advice now; null for none. */
    private @Nullable AcmeRecord unadvised(AcmeConfig now, long nowSeconds) {
        for (AcmeRecord record : records.values()) {
            boolean managed = now.onDemand() != null || now.names().contains(record.name());
            if (managed
                    && record.expirySeconds() > nowSeconds
                    && adviceSeconds.getOrDefault(record.name(), 0L) <= nowSeconds) {
                return record;
            }
        }
        return null;
    }

    /** Takes the settings over when they changed; returns those that can be worked with. */
    private @Nullable AcmeConfig configure() {
        AcmeConfig next = settings.get();
        if (next == null || next.equals(config)) {
            config = next;
            return issuance == null ? null : next;
        }
        Path root = next.storage();
        if (root == null) {
            return null;
        }
        try {
            DirectoryStorage storage = DirectoryStorage.open(root);
            AcmeConfig.OnDemand wanted = next.onDemand();
            records.clear();
            AcmeRecord.all(new AcmeFiles(root)).forEach(record -> records.put(record.name(), record));
            issuance = new NameIssuance(next, storage, clients.client(next, storage), random::nextDouble);
            onDemand = wanted == null
                    ? null
                    : new OnDemandNames(
                            storage, new AskClient(wanted.ask(), next.caFile()), asking, this::onThread, urgent::add);
            adviceSeconds.clear();
            checkedSeconds = 0;
            complaint = null;
            config = next;
            return next;
        } catch (IOException e) {
            if (!e.toString().equals(complaint)) {
                complaint = e.toString();
                LOG.error(
                        "ACME: tls.acme.storage {} cannot be used: {}; certificates that are held stay in use",
                        root,
                        e);
            }
            return null;
        }
    }

    private void onThread(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("stopping", e);
        }
    }

    /** Ends the threads; an order in progress is given up. */
    @Override
    public void close() {
        asking.shutdownNow();
        thread.shutdownNow();
    }
}
