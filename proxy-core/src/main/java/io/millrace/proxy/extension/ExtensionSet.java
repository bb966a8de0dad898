package io.millrace.proxy.extension;

import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.extension.trail.HookTrail;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.observe.event.EventSink;
import io.millrace.proxy.observe.log.LogTarget;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionConfigException;
import io.millrace.proxy.spi.PurgeObserver;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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

    /** The time after which a hook that still runs on an event loop is reported as blocking. */
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
    /** The element of {@link #running} for the current thread. Created at the first hook call of the thread. */
    private final FastThreadLocal<RunningHook> runningOfThread = new FastThreadLocal<>() {
        @Override
        protected RunningHook initialValue() {
            RunningHook slot = new RunningHook(Thread.currentThread().getName(), trail);
            running.add(slot);
            return slot;
        }
    };
    /** Records which hooks are running. Set before the first hook runs. */
    private @Nullable HookTrail trail;

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
     * @param trailFile the file of the {@link HookTrail}; null for none
     * @throws ExtensionException if an extension cannot be used; then none stays open
     */
    public static ExtensionSet open(
            List<ExtensionEntry> entries,
            @Nullable ScheduledExecutorService embedder,
            EventSink events,
            LongSupplier clock,
            @Nullable Path trailFile)
            throws ExtensionException {
        if (entries.isEmpty()) {
            return new ExtensionSet(null, false, false);
        }
        ScheduledExecutorService threads = embedder == null ? threads() : embedder;
        ExtensionSet set = new ExtensionSet(threads, embedder == null, true);
        ExtensionReports reports = new ExtensionReports(clock, events);
        try {
            if (trailFile != null) {
                set.trail = trail(trailFile, entries);
            }
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
        ExtensionServices context = new ExtensionServices(entry, threads, reports);
        try {
            extension.open(context);
        } catch (ExtensionConfigException e) {
            context.end();
            String place = e.place().isEmpty() ? "" : e.place() + ": ";
            throw new ExtensionException(
                    place + "extension " + entry.name() + ": config." + e.key() + ": " + e.getMessage(), e);
        } catch (Exception | LinkageError e) {
            context.end();
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new ExtensionException("extension " + entry.name() + " cannot be opened: " + e, e);
        }
        FieldEdits constants;
        try {
            constants = extension instanceof DeliverHook hook ? EditedFields.constants(hook.constantFields()) : null;
        } catch (RuntimeException | LinkageError e) {
            closeQuietly(entry);
            context.end();
            throw new ExtensionException("extension " + entry.name() + ": constantFields: " + e.getMessage(), e);
        }
        all.add(new LoadedExtension(all.size(), entry, constants, runningOfThread, reports, System::nanoTime));
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

    /** Sets a task that runs after all extensions were closed, such as closing their class loaders. */
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

    /** Returns the names of the extensions that receive access records. */
    public List<String> sinks() {
        return all.stream()
                .filter(one -> one.hooks().contains(Hook.ACCESS_LOG))
                .map(LoadedExtension::name)
                .toList();
    }

    /**
     * Returns a new target for the access records of one log.
     *
     * @param name an extension; if none of {@link #sinks} has the name, the target cannot be opened
     * @param sampleRate N, if the log contains one of every N requests
     */
    public LogTarget sink(String name, int sampleRate) {
        LoadedExtension found = all.stream()
                .filter(one -> one.name().equals(name) && one.hooks().contains(Hook.ACCESS_LOG))
                .findFirst()
                .orElse(null);
        return new SinkTarget(name, found, sampleRate);
    }

    /** Passes a purge to the observers, on the threads for extensions. Callable on any thread; never blocks. */
    public void purged(PurgeObserver.Purge purge) {
        for (LoadedExtension extension : all) {
            if (!extension.hooks().contains(Hook.PURGE) || executor == null) {
                continue;
            }
            if (purgesWaiting.incrementAndGet() > PURGES_WAITING_MAX) {
                purgesWaiting.decrementAndGet();
                extension.recordFailure(Hook.PURGE, FailureReason.LIMIT, null);
                continue;
            }
            try {
                executor.execute(() -> observe(extension, purge));
            } catch (RejectedExecutionException e) {
                purgesWaiting.decrementAndGet();
                extension.recordFailure(Hook.PURGE, FailureReason.EXCEPTION, e);
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

    /** Reports all existing and all future counters of extensions to a listener. Call once. */
    public void onCounter(CounterListener listener) {
        for (ExtensionServices each : services) {
            each.onCounter(listener);
        }
    }

    /** Returns the hooks of the remap rules of a configuration; null if there are no extensions. */
    public @Nullable HookChains chains(List<RemapRuleConfig> rules) {
        return all.isEmpty() ? null : new HookChains(all, rules);
    }

    /** Returns the trail; null if its file cannot be written, since extensions work without a trail. */
    private static @Nullable HookTrail trail(Path file, List<ExtensionEntry> entries) {
        try {
            return HookTrail.create(
                    file,
                    Arrays.stream(Hook.values()).map(Hook::label).toList(),
                    entries.stream().map(ExtensionEntry::name).toList());
        } catch (IOException e) {
            log.warn("{} cannot be written; if this process dies, no message names its running hooks", file, e);
            return null;
        }
    }

    private static ScheduledExecutorService threads() {
        ScheduledThreadPoolExecutor threads =
                new ScheduledThreadPoolExecutor(THREADS, new DefaultThreadFactory("millrace-extension", true));
        threads.setRemoveOnCancelPolicy(true);
        return threads;
    }

    private static void closeQuietly(ExtensionEntry entry) {
        try {
            entry.extension().close();
        } catch (Exception | LinkageError e) {
            log.warn("extension {} failed in close", entry.name(), e);
        }
    }

    /** Closes all extensions in reverse order. Call after the last request has ended. Blocks. */
    @Override
    public void close() {
        if (watch != null) {
            watch.shutdownNow();
        }
        for (int i = all.size() - 1; i >= 0; i--) {
            closeQuietly(all.get(i).entry());
            services.get(i).end();
        }
        if (ownsExecutor && executor != null) {
            executor.shutdownNow();
            try {
                if (!executor.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                    log.warn("tasks of extensions still run {} s after the extensions were closed", CLOSE_SECONDS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        afterClose.run();
    }
}
