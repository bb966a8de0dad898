package io.millrace.worker.warmup;

import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.ProxyServerBuilder;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.WorkerConfig;
import io.millrace.worker.warmup.WarmUpReport.Outcome;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The warm-up of a worker before it serves clients. A separate proxy in this JVM serves requests of a built-in client
 * until the JIT compilers are idle.
 *
 * <p>The proxy has real event loops, listeners with and without TLS on loopback, a small store, an access log and an
 * admin socket, over which it receives purges like those of other nodes. It shares only compiled code with the proxy
 * that later serves clients. Its threads have a lower priority than those of the serving worker. Thread-safe.
 */
public final class WarmUp implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

    /** Limit of event loops of the warm-up proxy. */
    private static final int LOOPS_MAX = 2;

    private static final long STORAGE_BYTES = 64L << 20;
    private static final long RAM_BYTES = 16L << 20;

    /** Minimum number of requests in a window in which the compilers may count as idle. */
    private static final long ENOUGH_REQUESTS = 50;

    private final WarmUpPlan plan;
    private final long startNanos = System.nanoTime();
    private final CompletableFuture<WarmUpReport> finished = new CompletableFuture<>();
    private final Thread thread = new Thread(this::run, "warm-up");
    private volatile @Nullable WarmUpLoad load;
    private final WarmUpPurges purges;
    private volatile boolean stopped;
    private volatile long requests;
    private volatile long unexpected;
    private volatile long methodsBefore;

    /** Confined to the warm-up thread, and to the closing thread after its end. */
    private @Nullable WarmUpOrigin origin;

    private @Nullable ProxyServer proxy;
    private final AtomicBoolean closed = new AtomicBoolean();

    private WarmUp(WarmUpPlan plan) {
        this.plan = plan;
        purges = new WarmUpPurges(WarmUpPurges.socketIn(plan.directory()), plan.fleet());
        thread.setDaemon(true);
    }

    /** Starts a warm-up on its own threads, and returns at once. */
    public static WarmUp start(WarmUpPlan plan) {
        WarmUp warmUp = new WarmUp(plan);
        warmUp.thread.start();
        return warmUp;
    }

    /**
     * Completes when the warm-up has ended. Never completes exceptionally: the report of a failed warm-up contains
     * the reason.
     */
    public CompletableFuture<WarmUpReport> finished() {
        return finished.copy();
    }

    /**
     * Returns true if the warm-up ended by itself or at its limit. False while it runs, and if it was stopped or
     * failed.
     */
    public boolean isComplete() {
        WarmUpReport report = finished.getNow(null);
        return report != null && (report.outcome() == Outcome.COMPILER_QUIET || report.outcome() == Outcome.LIMIT);
    }

    /** Number of requests answered so far. */
    public long requests() {
        return requests;
    }

    /** Number of responses with an unexpected status. */
    long unexpected() {
        return unexpected;
    }

    /** Stops the requests. When this method returns, {@link #finished} is complete. */
    public void stop() {
        stopped = true;
        WarmUpLoad current = load;
        if (current != null) {
            current.stop();
        }
        purges.close();
        finish(Outcome.STOPPED, "");
    }

    /** Number of batches of purges that were applied. */
    long purged() {
        return purges.answered();
    }

    private void finish(Outcome outcome, String reason) {
        if (finished.isDone()) {
            return;
        }
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        long methods = methodsBefore == 0 ? 0 : Math.max(0, CompilerWatch.methods() - methodsBefore);
        finished.complete(new WarmUpReport(outcome, reason, seconds, requests, methods));
    }

    private void run() {
        ThreadPriority.lowerOwn();
        try {
            CpuLimit cpuLimit = new CpuLimit(plan.cores());
            methodsBefore = CompilerWatch.methods();
            if (!stopped) {
                prepare();
                finish(warm(cpuLimit), "");
            }
        } catch (IOException | RuntimeException | LinkageError e) {
            LOG.debug("the warm-up failed", e);
            finish(Outcome.FAILED, String.valueOf(e.getMessage()));
        }
    }

    private void prepare() throws IOException {
        Files.createDirectories(plan.directory());
        WarmUpOrigin started = WarmUpOrigin.start();
        origin = started;
        ProxyServerBuilder builder = ProxyServer.builder().config(config(started.url()));
        Path admin = WarmUpPurges.socketIn(plan.directory());
        if (admin != null) {
            builder.adminSocket(admin)
                    .purgeRecords(plan.directory().resolve("purges"))
                    .fleetOutbox(plan.directory().resolve("fleet"));
        }
        ProxyServer built = builder.build();
        proxy = built;
        built.start();
    }

    /**
     * Returns the configuration of the warm-up proxy. From the worker's configuration, it copies only the settings
     * that select code paths.
     */
    private ProxyConfig config(String originUrl) throws IOException {
        WorkerConfig worker = plan.worker().worker();
        int loops = worker.eventLoops() == 0 ? Runtime.getRuntime().availableProcessors() : worker.eventLoops();
        ProxyConfig.Builder config = ProxyConfig.builder().listen("127.0.0.1:0");
        if (plan.tls()) {
            WarmUpCertificate certificate = WarmUpCertificate.in(plan.directory());
            config.listen("127.0.0.1:0", certificate.certificate(), certificate.key());
        }
        return config.map("/", originUrl)
                .storage(plan.directory().resolve("cache"), STORAGE_BYTES)
                .set(ConfigKeys.CACHE_RAM_SIZE, RAM_BYTES)
                .set(ConfigKeys.WORKER_TRANSPORT, worker.transport())
                .set(ConfigKeys.WORKER_FAST_LANE, worker.fastLane())
                .set(ConfigKeys.WORKER_EVENT_LOOPS, Math.min(loops, LOOPS_MAX))
                .set(ConfigKeys.LOG_ACCESS_PATH, plan.directory().resolve("access.log"))
                .set(ConfigKeys.LOG_ACCESS_ENABLED, plan.worker().log().accessEnabled())
                .set(ConfigKeys.LOG_ACCESS_FORMAT, plan.worker().log().accessFormat())
                .build();
    }

    private Outcome warm(CpuLimit cpuLimit) throws IOException {
        ProxyServer serving = Objects.requireNonNull(proxy);
        List<InetSocketAddress> addresses = serving.addresses();
        long deadlineNanos = startNanos + plan.limit().toNanos();
        InetSocketAddress secure = plan.tls() ? addresses.get(1) : null;
        try (WarmUpLoad running = new WarmUpLoad(addresses.get(0), secure, cpuLimit, deadlineNanos)) {
            load = running;
            if (stopped) {
                return Outcome.STOPPED;
            }
            CompilerWatch watch = new CompilerWatch();
            serving.beat(() -> {});
            while (!running.isOver()) {
                purges.cycle(running.stored());
                running.cycle();
                requests = running.answered();
                unexpected = running.unexpected();
                if (watch.checkIdle(requests, ENOUGH_REQUESTS)) {
                    return Outcome.COMPILER_QUIET;
                }
            }
            return stopped ? Outcome.STOPPED : Outcome.LIMIT;
        }
    }

    /** Stops the warm-up and releases its threads, sockets, memory and files. Blocks. */
    @Override
    public void close() {
        stop();
        Threads.join(thread);
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        if (proxy != null) {
            // Draining and the trace message below load further classes, so that a class archive contains them too.
            proxy.drain(0).toCompletableFuture().join();
            LOG.trace("{}: {}", proxy.tls(), proxy.metricsText());
            proxy.close();
        }
        if (origin != null) {
            origin.close();
        }
        proxy = null;
        origin = null;
        // Direct buffers are freed only when the garbage collector finds that their owners are unreachable. In the old
        // generation this may take long.
        System.gc();
        clear(plan.directory());
    }

    /** Deletes the temporary files of a warm-up that has ended or was killed. Blocks. */
    public static void clear(Path directory) {
        try {
            if (Files.exists(directory)) {
                remove(directory);
            }
        } catch (IOException e) {
            LOG.warn(
                    "the directory {} of a warm-up cannot be deleted: {}; it is safe to delete it",
                    directory,
                    e.getMessage());
        }
    }

    private static void remove(Path directory) throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure) throws IOException {
                Files.delete(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
