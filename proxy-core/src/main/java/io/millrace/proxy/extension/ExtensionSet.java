package io.millrace.proxy.extension;

import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionConfigException;
import io.millrace.proxy.spi.PurgeObserver;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open extensions of a proxy, and the threads for their blocking work.
 *
 * <p>Thread-safe.
 */
public final class ExtensionSet implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ExtensionSet.class);

    /** The time after which a hook on an event loop is reported. */
    private static final long BLOCKED_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long WATCH_MILLIS = 500;
    private static final int THREADS = 4;
    private static final long CLOSE_SECONDS = 5;

    /** Limit of purges that wait for observers. */
    private static final int PURGES_WAITING_MAX = 1000;

    private final AtomicInteger purgesWaiting = new AtomicInteger();
    private final List<LoadedExtension> all = new ArrayList<>();
    private final List<ExtensionServices> services = new ArrayList<>();
    private final List<RunningHook> running = new CopyOnWriteArrayList<>();
    private final FastThreadLocal<RunningHook> ofThread = new FastThreadLocal<>() {
        @Override
        protected RunningHook initialValue() {
            RunningHook slot = new RunningHook(Thread.currentThread().getName());
            running.add(slot);
            return slot;
        }
    };
    private final @Nullable ScheduledExecutorService executor;
    /** True if the set has created the executor. */
    private final boolean ownsExecutor;

    private final @Nullable ScheduledThreadPoolExecutor watch;

    /** Written before the proxy starts, read by the thread that closes it. */
    private volatile Runnable afterClose = () -> {};

    private ExtensionSet(@Nullable ScheduledExecutorService executor, boolean ownsExecutor, boolean watches) {
        this.executor = executor;
        this.ownsExecutor = ownsExecutor;
        this.watch = watches
                ? new ScheduledThreadPoolExecutor(1, new DefaultThreadFactory("millrace-hook-watch", true))
                : null;
    }

    /**
     * Opens extensions, in their order.
     *
     * @param embedder executor of the embedding application for blocking work; null for threads of the proxy
     * @param events receives events about extensions
     * @param clock the wall clock, in epoch milliseconds
     * @throws ExtensionException if an extension cannot be used; then none stays open
     */
    public static ExtensionSet open(
            List<ExtensionEntry> entries,
            @Nullable ScheduledExecutorService embedder,
            EventSink events,
            LongSupplier clock)
            throws ExtensionException {
        if (entries.isEmpty()) {
            return new ExtensionSet(null, false, false);
        }
        ScheduledExecutorService threads = embedder == null
                ? new ScheduledThreadPoolExecutor(THREADS, new DefaultThreadFactory("millrace-extension", true))
                : embedder;
        ExtensionSet set = new ExtensionSet(threads, embedder == null, true);
        ExtensionReports reports = new ExtensionReports(clock, events);
        try {
            Set<String> names = new HashSet<>();
            for (ExtensionEntry entry : entries) {
                if (!names.add(entry.name())) {
                    throw new ExtensionException("two extensions have the name " + entry.name(), null);
                }
                set.open(entry, threads, reports);
            }
        } catch (ExtensionException | RuntimeException | Error e) {
            set.close();
            throw e;
        }
        set.watch();
        return set;
    }

    private void open(ExtensionEntry entry, ScheduledExecutorService threads, ExtensionReports reports)
            throws ExtensionException {
        Extension extension = entry.extension();
        if (extension.apiVersion() != Extension.API_VERSION) {
            throw new ExtensionException(
                    "extension " + entry.name() + " was compiled for version " + extension.apiVersion()
                            + " of the interface; this proxy has version " + Extension.API_VERSION,
                    null);
        }
        ExtensionServices context = new ExtensionServices(entry, threads);
        try {
            extension.open(context);
        } catch (ExtensionConfigException e) {
            String place = e.place().isEmpty() ? "" : e.place() + ": ";
            throw new ExtensionException(
                    place + "extension " + entry.name() + ": config." + e.key() + ": " + e.getMessage(), e);
        } catch (Exception | LinkageError e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new ExtensionException("extension " + entry.name() + " cannot be opened: " + e, e);
        }
        all.add(new LoadedExtension(entry, ofThread, reports, System::nanoTime));
        services.add(context);
    }

    private void watch() {
        if (watch != null) {
            Future<?> ignored =
                    watch.scheduleWithFixedDelay(this::findBlocked, WATCH_MILLIS, WATCH_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void findBlocked() {
        long now = System.nanoTime();
        for (RunningHook slot : running) {
            slot.reportIfLonger(BLOCKED_NANOS, now);
        }
    }

    /** Sets a task that runs after all extensions were closed, such as giving up their classes. */
    public void afterClose(Runnable task) {
        afterClose = task;
    }

    /** All extensions, in the order of the configuration. */
    public List<LoadedExtension> all() {
        return Collections.unmodifiableList(all);
    }

    /** Returns the values of the counters that an extension has created, by name. */
    public Map<String, Long> counters(LoadedExtension extension) {
        return services.get(all.indexOf(extension)).counts();
    }

    /** Returns true if an extension observes purges. */
    public boolean observesPurges() {
        return all.stream().anyMatch(one -> one.hooks().contains(Hook.PURGE));
    }

    /** Passes a purge to the observers, on the threads for extensions. Callable on any thread; never blocks. */
    public void purged(PurgeObserver.Purge purge) {
        for (LoadedExtension extension : all) {
            if (!extension.hooks().contains(Hook.PURGE) || executor == null) {
                continue;
            }
            if (purgesWaiting.incrementAndGet() > PURGES_WAITING_MAX) {
                purgesWaiting.decrementAndGet();
                extension.note(Hook.PURGE, FailureReason.LIMIT, null);
                continue;
            }
            try {
                executor.execute(() -> observe(extension, purge));
            } catch (RejectedExecutionException e) {
                purgesWaiting.decrementAndGet();
                extension.note(Hook.PURGE, FailureReason.EXCEPTION, e);
            }
        }
    }

    private void observe(LoadedExtension extension, PurgeObserver.Purge purge) {
        purgesWaiting.decrementAndGet();
        if (!extension.admits(Hook.PURGE)) {
            return;
        }
        long began = System.nanoTime();
        try {
            ((PurgeObserver) extension.extension()).purged(purge);
            extension.succeeded(Hook.PURGE);
        } catch (Throwable e) {
            extension.failed(Hook.PURGE, e);
        } finally {
            extension.figures(Hook.PURGE).called(System.nanoTime() - began);
        }
    }

    /** Receives each counter of an extension. */
    public interface CounterListener {
        /**
         * Receives one counter.
         *
         * @param extension name of the extension
         * @param value callable on any thread
         */
        void created(String extension, String counter, LongSupplier value);
    }

    /** Reports the counters of all extensions, now and later. Call once. */
    public void onCounter(CounterListener listener) {
        for (ExtensionServices each : services) {
            each.onCounter(listener);
        }
    }

    /** Returns the hooks of the remap rules of a configuration; null if there are no extensions. */
    public @Nullable HookChains chains(List<RemapRuleConfig> rules) {
        return all.isEmpty() ? null : new HookChains(all, rules);
    }

    /** Closes all extensions, the last first. Call after the last request has ended. Blocks. */
    @Override
    public void close() {
        if (watch != null) {
            watch.shutdownNow();
        }
        for (int i = all.size() - 1; i >= 0; i--) {
            try {
                all.get(i).extension().close();
            } catch (Exception | LinkageError e) {
                log.warn("extension {} failed in close", all.get(i).name(), e);
            }
        }
        if (ownsExecutor && executor != null) {
            executor.shutdownNow();
            try {
                if (!executor.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                    log.warn("tasks of extensions still run {} s after the end", CLOSE_SECONDS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        afterClose.run();
    }
}
