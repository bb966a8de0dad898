package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.status.ServerSource;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.server.DrainRequest;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The serving process, its event loops and its drain for the admin API. Thread-safe; reads {@code /proc}. */
public final class ServerAdmin implements ServerSource {
    /** Limit of threads in the answer; a worker has some dozens. */
    private static final int THREADS_MAX = 256;

    private static final double NANOS_PER_SECOND = 1e9;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long KIB = 1024;

    private final ProxyView proxy;
    private final DrainRequest drain;

    public ServerAdmin(ProxyView proxy, DrainRequest drain) {
        this.proxy = proxy;
        this.drain = drain;
    }

    @Override
    public ServerReport report() {
        ProcessHandle process = ProcessHandle.current();
        List<Loop> loops = new ArrayList<>();
        for (ServingLoop loop : proxy.loops()) {
            loops.add(loop(loop, loops.size()));
        }
        Duration cpu = process.info().totalCpuDuration().orElse(Duration.ZERO);
        return new ServerReport(
                state(),
                drain.isSet(),
                process.pid(),
                proxy.uptime().toSeconds(),
                cpu.toNanos() / NANOS_PER_SECOND,
                residentBytes(),
                ManagementFactory.getThreadMXBean().getThreadCount(),
                descriptors(),
                List.copyOf(loops));
    }

    private String state() {
        return switch (proxy.state()) {
            case NEW -> "starting";
            case RUNNING -> drain.isSet() ? "draining" : "running";
            case DRAINING, CLOSED -> "draining";
        };
    }

    private static Loop loop(ServingLoop loop, int index) {
        long requests = 0;
        for (CacheResult result : CacheResult.values()) {
            requests += loop.counters().value(Counter.requests(result));
        }
        long hits = loop.counters().value(Counter.REQUESTS_HIT)
                + loop.counters().value(Counter.REQUESTS_STALE)
                + loop.counters().value(Counter.REQUESTS_REVALIDATED);
        return new Loop(
                "loop-" + index,
                loop.connections().size(),
                loop.origins().statistics().connectionsOpen(),
                requests,
                hits);
    }

    private static long residentBytes() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"), StandardCharsets.ISO_8859_1)) {
                if (line.startsWith("VmRSS:")) {
                    String digits =
                            line.substring("VmRSS:".length()).replace("kB", "").strip();
                    return Long.parseLong(digits) * KIB;
                }
            }
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
        return 0;
    }

    private static long descriptors() {
        long count = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path one : all) {
                count += one.getNameCount() > 0 ? 1 : 0;
            }
        } catch (IOException e) {
            return 0;
        }
        return count;
    }

    @Override
    public ServerReport drain(boolean undo) {
        drain.set(!undo);
        return report();
    }

    @Override
    public ThreadReport threads(int depth) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        List<ThreadView> views = new ArrayList<>();
        boolean timed = threads.isThreadCpuTimeSupported();
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds(), depth)) {
            if (thread != null) {
                long nanos = timed ? threads.getThreadCpuTime(thread.getThreadId()) : -1;
                views.add(view(thread, nanos));
            }
        }
        views.sort(Comparator.comparingLong(ThreadView::cpuMillis).reversed().thenComparing(ThreadView::name));
        int shownCount = Math.min(THREADS_MAX, views.size());
        return new ThreadReport(List.copyOf(views.subList(0, shownCount)), views.size() - shownCount);
    }

    private static ThreadView view(ThreadInfo thread, long cpuNanos) {
        List<String> stack = new ArrayList<>();
        for (StackTraceElement frame : thread.getStackTrace()) {
            stack.add(frame.toString());
        }
        return new ThreadView(
                thread.getThreadName(),
                thread.getThreadState().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                cpuNanos < 0 ? -1 : cpuNanos / NANOS_PER_MILLI,
                List.copyOf(stack));
    }
}
