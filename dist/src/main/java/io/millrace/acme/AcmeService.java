package io.millrace.acme;

import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.observe.event.EventSink;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
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
 * The ACME service of the launcher. It keeps the certificates of the configured names valid. It also orders
 * certificates on demand, during TLS handshakes, if the operator's ask service (tls.acme.on_demand.ask) permits the
 * name.
 *
 * <p>Thread-safe. One thread makes all decisions. A small pool of threads runs the orders of different names in
 * parallel.
 */
public final class AcmeService implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AcmeService.class);
    /** Interval of the steps while an order is in progress or on-demand certificates are configured. */
    private static final long TICK_MILLIS = 200;

    private static final long IDLE_TICK_MILLIS = 1000;
    /** Limit of orders in progress. */
    private static final int ORDERS_MAX = 4;
    /** Limit of requests to the ask service in progress. */
    private static final int ASKS_MAX = 8;
    /** Delay before the next attempt while another launcher with the same storage orders the certificate. */
    private static final long BUSY_SECONDS = 2;
    /** Delay before the next attempt after an unexpected exception. */
    private static final long FAULT_SECONDS = 60;
    /** Delay after the ask service refused a renewal, or after a deletion failed. */
    private static final long REFUSED_RENEWAL_SECONDS = Duration.ofDays(1).toSeconds();
    /** Delay before the next attempt of a renewal that the ask service did not answer. */
    private static final long UNANSWERED_RENEWAL_SECONDS = Duration.ofMinutes(5).toSeconds();

    /** Creates the ACME client of a configuration. */
    interface ClientFactory {
        CertificateIssuer client(AcmeConfig config, AcmeStorage storage);
    }

    private final Supplier<@Nullable AcmeConfig> settings;
    private final LongSupplier clockMillis;
    private final ClientFactory clients;
    private final ScheduledExecutorService thread;
    private final ExecutorService askThreads;
    private final ExecutorService orderThreads;
    /** Runs the orders: {@link #orderThreads}, or another executor in tests. */
    private final Executor orderExecutor;

    private final Random random = new Random();
    private final AtomicBoolean started = new AtomicBoolean();
    /** Tasks of other threads for the ACME thread. Bounded by the limits of orders and requests in progress. */
    private final Queue<Runnable> acmeThreadTasks = new ConcurrentLinkedQueue<>();

    private volatile EventSink events = EventSink.NONE;

    // This field and those below are confined to the ACME thread.
    private @Nullable AcmeConfig config;
    private @Nullable NameIssuance issuance;
    private @Nullable OnDemandNames onDemand;
    private final NameSchedule schedule = new NameSchedule();
    /** Names that are ordered before those whose renewal is due. */
    private final Set<String> urgent = new LinkedHashSet<>();
    /** Results of the orders that {@link #renew} started, by name. */
    private final Map<String, CompletableFuture<AcmeRecord>> forced = new HashMap<>();
    /** Time of the last search for due names that found none, in seconds since 1970. */
    private long checkedSeconds;
    /** Last logged failure of the storage; null while the storage can be used. */
    private @Nullable String storageFailure;

    /** @param settings returns the settings in force, with a storage directory; null if ACME is not configured */
    public AcmeService(Supplier<@Nullable AcmeConfig> settings, LongSupplier clockMillis) {
        this(settings, clockMillis, (config, storage) -> new AcmeIssuer(config, storage, clockMillis), null);
    }

    /** @param orders executor of the orders; null for the service's own threads */
    AcmeService(
            Supplier<@Nullable AcmeConfig> settings,
            LongSupplier clockMillis,
            ClientFactory clients,
            @Nullable Executor orders) {
        this.settings = settings;
        this.clockMillis = clockMillis;
        this.clients = clients;
        thread = Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("millrace-acme", true));
        askThreads = pool(ASKS_MAX, "millrace-acme-ask");
        orderThreads = pool(ORDERS_MAX, "millrace-acme-order");
        this.orderExecutor = orders == null ? orderThreads : orders;
    }

    /** Returns a thread pool whose idle threads end. Callers limit the number of queued tasks. */
    private static ExecutorService pool(int threads, String name) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                threads,
                threads,
                10,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                new DefaultThreadFactory(name, true));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Sets the receiver of events: issued certificates and failed orders. Call before {@link #start}. */
    public void events(EventSink sink) {
        events = sink;
    }

    /** Creates the storage directory, so that workers find it at their start. Blocks. */
    public void prepare() {
        AcmeConfig settingsNow = settings.get();
        Path storage = settingsNow == null ? null : settingsNow.storage();
        if (storage != null) {
            try {
                DirectoryStorage.open(storage);
            } catch (IOException e) {
                LOG.error("ACME: the directory tls.acme.storage {} cannot be created: {}", storage, e.toString());
            }
        }
    }

    /**
     * Starts ordering certificates. Workers must already be able to answer challenges. Further calls have no effect.
     */
    public void start() {
        if (started.compareAndSet(false, true)) {
            thread.execute(this::tickSafely);
        }
    }

    /**
     * Orders a certificate for a name now, even if its renewal is not due.
     *
     * @return completes with the new record of the name, which may contain an error; fails for a name without automatic
     *     certificates
     */
    public CompletableFuture<AcmeRecord> renew(String name) {
        CompletableFuture<AcmeRecord> result = new CompletableFuture<>();
        try {
            thread.execute(() -> {
                AcmeConfig settingsNow = configure();
                if (settingsNow == null) {
                    result.completeExceptionally(new IllegalArgumentException(
                            storageFailure == null
                                    ? "tls.acme is not configured"
                                    : "tls.acme.storage cannot be used: " + storageFailure));
                } else if (!schedule.hasCertificate(name)
                        && !settingsNow.names().contains(name)) {
                    result.completeExceptionally(new IllegalArgumentException(
                            name + " has no automatic certificate; add it to tls.acme.names"));
                } else {
                    forced.computeIfAbsent(name, each -> new CompletableFuture<>())
                            .whenComplete((record, failure) -> {
                                if (failure == null) {
                                    result.complete(record);
                                } else {
                                    result.completeExceptionally(failure);
                                }
                            });
                    schedule.resume(name);
                    urgent.add(name);
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
        } catch (RuntimeException e) {
            LOG.error("ACME: the check of certificates failed and will be repeated", e);
        }
        boolean idle = onDemand == null && schedule.runningCount() == 0;
        try {
            var unused =
                    thread.schedule(this::tickSafely, idle ? IDLE_TICK_MILLIS : TICK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("stopping", e);
        }
    }

    /** Performs one step of the service: starts the orders that are due. Called on the ACME thread, and by tests. */
    void tick() {
        AcmeConfig settingsNow = configure();
        runAcmeThreadTasks();
        NameIssuance current = issuance;
        if (settingsNow == null || current == null) {
            return;
        }
        long nowSeconds = clockMillis.getAsLong() / 1000;
        if (onDemand != null) {
            onDemand.poll(schedule::hasCertificate);
        }
        for (String name : List.copyOf(urgent)) {
            if (schedule.runningCount() < ORDERS_MAX && schedule.isFree(name, nowSeconds)) {
                urgent.remove(name);
                order(current, name, nowSeconds, forced.get(name));
            }
        }
        if (nowSeconds != checkedSeconds && schedule.runningCount() < ORDERS_MAX) {
            List<String> due = schedule.due(settingsNow.names(), nowSeconds, ORDERS_MAX - schedule.runningCount());
            due.forEach(name -> order(current, name, nowSeconds, null));
            checkedSeconds = due.isEmpty() ? nowSeconds : checkedSeconds;
            if (onDemand != null) {
                schedule.dueOnDemand(settingsNow.names(), nowSeconds).forEach(onDemand::ask);
            }
            if (schedule.runningCount() == 0) {
                requestRenewalInfo(current, settingsNow, nowSeconds);
                forget(current, settingsNow, nowSeconds);
            }
        }
        runAcmeThreadTasks();
    }

    private void runAcmeThreadTasks() {
        for (Runnable each = acmeThreadTasks.poll(); each != null; each = acmeThreadTasks.poll()) {
            each.run();
        }
    }

    /**
     * Runs a task for a name on the order threads. The task returns a second task, which then runs on the ACME thread.
     */
    private void run(String name, Supplier<Runnable> task) {
        schedule.begin(name);
        try {
            orderExecutor.execute(() -> {
                Runnable then = () -> {};
                try {
                    then = task.get();
                } catch (RuntimeException e) {
                    LOG.error("ACME: an error occurred while processing {}; it will be retried", name, e);
                } finally {
                    Runnable last = then;
                    acmeThreadTasks.add(() -> {
                        schedule.end(name);
                        last.run();
                    });
                }
            });
        } catch (RejectedExecutionException e) {
            LOG.debug("stopping", e);
        }
    }

    private void order(
            NameIssuance current, String name, long nowSeconds, @Nullable CompletableFuture<AcmeRecord> forcedResult) {
        AcmeRecord earlierRecord = schedule.record(name);
        schedule.pause(name, nowSeconds + BUSY_SECONDS);
        run(name, () -> {
            try {
                NameIssuance.OrderOutcome outcome = current.order(earlierRecord, nowSeconds, forcedResult != null)
                        .orElse(null);
                return () -> finishOrder(current, name, outcome, forcedResult);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return () -> {};
            } catch (RuntimeException e) {
                LOG.error("ACME: an error occurred while ordering a certificate for {}", name, e);
                return () -> finishFailedOrder(earlierRecord.retryAt(nowSeconds + FAULT_SECONDS), forcedResult, e);
            }
        });
    }

    private void finishFailedOrder(
            AcmeRecord record, @Nullable CompletableFuture<AcmeRecord> forcedResult, RuntimeException fault) {
        schedule.put(record);
        if (forcedResult != null) {
            forced.remove(record.name(), forcedResult);
            forcedResult.completeExceptionally(fault);
        }
        if (onDemand != null) {
            onDemand.decided(record.name());
        }
    }

    /** @param outcome result of the order; null while another launcher orders the certificate */
    private void finishOrder(
            NameIssuance orderedBy,
            String name,
            NameIssuance.@Nullable OrderOutcome outcome,
            @Nullable CompletableFuture<AcmeRecord> forcedResult) {
        if (outcome == null) {
            if (forcedResult != null || (onDemand != null && onDemand.isPending(name))) {
                urgent.add(name);
            }
            return;
        }
        schedule.resume(name);
        if (orderedBy == issuance) {
            schedule.put(outcome.kept());
        }
        if (forcedResult != null) {
            forced.remove(name, forcedResult);
            forcedResult.complete(outcome.result());
        }
        if (onDemand != null && !urgent.contains(name)) {
            onDemand.decided(name);
        }
    }

    /** Requests renewal information (ARI) for one certificate. */
    private void requestRenewalInfo(NameIssuance current, AcmeConfig settingsNow, long nowSeconds) {
        AcmeRecord record =
                schedule.withDueRenewalInfo(settingsNow.names(), settingsNow.onDemand() != null, nowSeconds);
        if (record == null) {
            return;
        }
        run(record.name(), () -> {
            NameIssuance.RenewalInfoResult advised = current.requestRenewalInfo(record, nowSeconds);
            return () -> {
                if (current == issuance) {
                    schedule.put(advised.record());
                    schedule.setRenewalInfoDue(record.name(), advised.askAgainSeconds());
                }
            };
        });
    }

    /** Deletes one certificate that expired long ago and is no longer configured. */
    private void forget(NameIssuance current, AcmeConfig settingsNow, long nowSeconds) {
        AcmeRecord record = schedule.obsolete(settingsNow.names(), nowSeconds);
        if (record == null) {
            return;
        }
        schedule.pause(record.name(), nowSeconds + REFUSED_RENEWAL_SECONDS);
        run(record.name(), () -> {
            boolean forgotten = current.forget(record);
            return () -> {
                if (forgotten && current == issuance) {
                    schedule.remove(record.name());
                }
            };
        });
    }

    /** Handles the answer of the ask service: whether a name may have a certificate. */
    private void answered(String name, AskClient.Answer answer) {
        if (answer == AskClient.Answer.YES) {
            urgent.add(name);
            return;
        }
        if (schedule.hasCertificate(name)) {
            long pause = answer == AskClient.Answer.NO ? REFUSED_RENEWAL_SECONDS : UNANSWERED_RENEWAL_SECONDS;
            schedule.pause(name, clockMillis.getAsLong() / 1000 + pause);
        }
        if (onDemand != null) {
            onDemand.decided(name);
        }
    }

    /** Applies changed settings. Returns the settings if they can be used, otherwise null. */
    private @Nullable AcmeConfig configure() {
        AcmeConfig latest = settings.get();
        if (latest == null || latest.equals(config)) {
            config = latest;
            return issuance == null ? null : latest;
        }
        Path root = latest.storage();
        if (root == null) {
            return null;
        }
        try {
            DirectoryStorage storage = DirectoryStorage.open(root);
            AcmeConfig.OnDemand onDemandConfig = latest.onDemand();
            schedule.load(new AcmeFiles(root));
            issuance = new NameIssuance(latest, storage, clients.client(latest, storage), random::nextDouble, events);
            onDemand = onDemandConfig == null
                    ? null
                    : new OnDemandNames(
                            storage,
                            new AskClient(onDemandConfig.ask(), latest.caFile()),
                            askThreads,
                            acmeThreadTasks::add,
                            this::answered);
            checkedSeconds = 0;
            storageFailure = null;
            config = latest;
            return latest;
        } catch (IOException e) {
            if (!e.toString().equals(storageFailure)) {
                storageFailure = e.toString();
                LOG.error(
                        "ACME: tls.acme.storage {} cannot be used: {}; the loaded certificates stay in use",
                        root,
                        storageFailure);
            }
            return null;
        }
    }

    /** Ends the threads and abandons orders in progress. */
    @Override
    public void close() {
        askThreads.shutdownNow();
        orderThreads.shutdownNow();
        thread.shutdownNow();
    }
}
