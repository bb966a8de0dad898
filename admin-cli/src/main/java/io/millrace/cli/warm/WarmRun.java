package io.millrace.cli.warm;

import io.millrace.cli.warm.WarmResult.Effect;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Requests every URL of a feed (the source of URLs) through the proxy, at a limited rate, on a limited number of
 * connections. The memory does not depend on the number of URLs. {@link #run} is called by one thread; {@link #stop}
 * may be called by any.
 */
public final class WarmRun {
    private static final long TICK_MILLIS = 200;
    private static final long SAVE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final ReentrantLock lock = new ReentrantLock();
    private final Feed feed;
    private final List<Endpoint> endpoints;
    private final Options options;
    private final WarmTally tally;
    private final @Nullable ResumeFile resume;
    private final Consumer<String> progress;
    private final BlockingQueue<WarmRequest> waiting;
    private final List<ProxyLink> links = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch stopping = new CountDownLatch(1);
    /**
     * The requests that are not complete: the number of each, and the hash of all requests before it. Guarded by
     * {@link #lock}.
     */
    private final TreeMap<Long, SequenceHash> open = new TreeMap<>();

    /** True when no further request is handed out, because the feed has ended or the run was stopped. */
    private volatile boolean noMoreRequests;

    private volatile @Nullable String unreachable;
    /** Number and hash of the last request that was handed out; guarded by {@link #lock}. */
    private long lastNumber;

    private SequenceHash lastHash = SequenceHash.NONE;
    private long nextSendNanos;
    private long savedNanos;
    private long lastProgressNanos;
    private long begunNanos;
    private long totalBefore;

    /**
     * Limits and fields of requests. Immutable.
     *
     * @param perSecond limit of requests per second
     * @param concurrency limit of requests in progress
     * @param fields lines {@code Name: value} for every request
     * @param readTimeout longest wait for further bytes of a response
     */
    public record Options(double perSecond, int concurrency, List<String> fields, Duration readTimeout) {}

    /** The reason why a run ended. */
    public enum End {
        /** Every URL was requested. */
        COMPLETE,
        /** The run was stopped. */
        STOPPED,
        /** The proxy accepts no connections any more. */
        UNREACHABLE
    }

    /**
     * Creates a run.
     *
     * @param feed owned by the caller
     * @param resume receives the progress; null without {@code --resume}
     * @param progress receives a line every few seconds, on the thread of {@link #run}
     */
    public WarmRun(
            Feed feed,
            List<Endpoint> endpoints,
            Options options,
            WarmTally tally,
            @Nullable ResumeFile resume,
            Consumer<String> progress) {
        this.feed = feed;
        this.endpoints = endpoints;
        this.options = options;
        this.tally = tally;
        this.resume = resume;
        this.progress = progress;
        this.waiting = new ArrayBlockingQueue<>(options.concurrency());
    }

    /**
     * Sends the requests; returns when all are complete, or after {@link #stop}.
     *
     * @throws IOException if the input cannot be read, or the progress cannot be written
     */
    public End run() throws IOException {
        begunNanos = System.nanoTime();
        nextSendNanos = begunNanos;
        savedNanos = begunNanos;
        lastProgressNanos = begunNanos;
        if (resume != null && resume.position() > 0) {
            feed.skip(resume.position(), resume.hash());
            lastNumber = feed.number();
            lastHash = feed.hash();
        }
        totalBefore = tally.total();
        for (int i = 0; i < options.concurrency(); i++) {
            ProxyLink link = new ProxyLink(options.fields(), options.readTimeout());
            Thread thread = new Thread(() -> work(link), "warm-" + i);
            thread.setDaemon(true);
            links.add(link);
            threads.add(thread);
            thread.start();
        }
        boolean isDone = false;
        try {
            readFeed();
            finish();
            isDone = true;
        } finally {
            if (!isDone) {
                stop();
                endThreads();
            }
            save();
        }
        if (unreachable != null) {
            return End.UNREACHABLE;
        }
        if (isStopped()) {
            return End.STOPPED;
        }
        if (resume != null) {
            resume.remove();
        }
        return End.COMPLETE;
    }

    /** Ends the run: no further request begins, and the requests in progress have a few seconds to complete. */
    public void stop() {
        stopping.countDown();
    }

    /**
     * Saves the progress before the process exits. To be called while the thread of {@link #run} is blocked by its
     * input.
     */
    public void saveAtExit() {
        try {
            save();
        } catch (IOException e) {
            // The file keeps the progress that was saved last.
        }
    }

    /** Returns why the proxy cannot be reached; null as long as it can be reached. */
    public @Nullable String unreachable() {
        return unreachable;
    }

    private boolean isStopped() {
        return stopping.getCount() == 0;
    }

    private void readFeed() throws IOException {
        for (WarmRequest next = feed.next(); next != null; next = feed.next()) {
            if (!pace() || !handOut(next)) {
                return;
            }
            tick();
        }
        noMoreRequests = true;
    }

    /** Waits until the next request may be sent. Returns false if the run was stopped. */
    private boolean pace() throws IOException {
        long left = nextSendNanos - System.nanoTime();
        while (left > 0) {
            if (await(Math.min(left, TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS)))) {
                return false;
            }
            tick();
            left = nextSendNanos - System.nanoTime();
        }
        // After a pause, the requests that were due during the pause are not sent in a burst.
        nextSendNanos = Math.max(nextSendNanos, System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS))
                + (long) (TimeUnit.SECONDS.toNanos(1) / options.perSecond());
        return !isStopped();
    }

    /** Passes a request to the threads, and waits until the queue has room. Returns false if the run was stopped. */
    private boolean handOut(WarmRequest next) throws IOException {
        lock.lock();
        try {
            open.put(next.number(), lastHash);
            lastNumber = next.number();
            lastHash = next.hash();
        } finally {
            lock.unlock();
        }
        try {
            while (!waiting.offer(next, TICK_MILLIS, TimeUnit.MILLISECONDS)) {
                if (isStopped()) {
                    return false;
                }
                tick();
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stop();
            return false;
        }
    }

    private boolean await(long nanos) {
        try {
            return stopping.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stop();
            return true;
        }
    }

    /** Waits for the requests in progress. */
    private void finish() throws IOException {
        while (!isStopped() && hasOpen()) {
            await(TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS / 4));
            tick();
        }
        endThreads();
    }

    private boolean hasOpen() {
        lock.lock();
        try {
            return !open.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Waits a few seconds for the requests in progress. Then ends all threads by closing their connections. */
    private void endThreads() {
        long endNanos = System.nanoTime() + GRACE_NANOS;
        noMoreRequests = true;
        for (Thread thread : threads) {
            join(thread, Math.max(1, (endNanos - System.nanoTime()) / 1_000_000));
        }
        links.forEach(ProxyLink::abort);
        for (Thread thread : threads) {
            join(thread, 1000);
        }
    }

    private static void join(Thread thread, long millis) {
        boolean wasInterrupted = Thread.interrupted();
        try {
            thread.join(millis);
        } catch (InterruptedException e) {
            wasInterrupted = true;
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void work(ProxyLink link) {
        try (link) {
            while (!isStopped()) {
                WarmRequest request = waiting.poll(TICK_MILLIS, TimeUnit.MILLISECONDS);
                if (request != null) {
                    request(link, request);
                } else if (noMoreRequests && !hasOpen()) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void request(ProxyLink link, WarmRequest request) {
        Endpoint endpoint = Endpoint.forUrl(request.url(), endpoints);
        WarmResult result;
        long bytes = 0;
        if (endpoint == null) {
            String scheme = request.url().secure() ? "https" : "http";
            result = new WarmResult(Effect.NOT_SERVED, "no listener for " + scheme);
        } else {
            try {
                ProxyReply reply = link.get(endpoint, request.url(), request.fields(), null);
                bytes = reply.bytes();
                result = WarmResult.of(request.url(), reply);
            } catch (ProxyLink.UnreachableException e) {
                unreachable = e.getMessage();
                stop();
                return;
            } catch (IOException e) {
                if (isStopped()) {
                    return;
                }
                result = new WarmResult(Effect.ERROR, reason(e));
            }
        }
        lock.lock();
        try {
            // The lock covers both changes, so that the saved position and the saved counts always include the same
            // requests.
            tally.add(result, bytes);
            open.remove(request.number());
        } finally {
            lock.unlock();
        }
    }

    private static String reason(IOException e) {
        if (e instanceof SSLException) {
            return "no TLS connection";
        }
        return e instanceof SocketTimeoutException ? "timeout" : "no complete response";
    }

    /** Saves the progress, at most once a second, and reports it, at most once in five seconds. */
    private void tick() throws IOException {
        long now = System.nanoTime();
        if (now - savedNanos >= SAVE_NANOS) {
            savedNanos = now;
            save();
        }
        if (now - lastProgressNanos >= PROGRESS_NANOS) {
            lastProgressNanos = now;
            double seconds = (now - begunNanos) / 1e9;
            long perSecond = Math.round((tally.total() - totalBefore) / seconds);
            progress.accept("requested " + tally.total() + " URLs: " + tally.of(Effect.FRESH) + " fresh, "
                    + (tally.of(Effect.STORED) + tally.of(Effect.REVALIDATED)) + " stored, "
                    + tally.of(Effect.ERROR) + " errors; " + perSecond + " per second");
        }
    }

    /** Writes the position before the first request that is not complete. */
    private void save() throws IOException {
        lock.lock();
        try {
            if (resume == null) {
                return;
            }
            long reached = open.isEmpty() ? lastNumber : open.firstKey() - 1;
            SequenceHash hash = open.isEmpty() ? lastHash : open.firstEntry().getValue();
            resume.save(reached, hash, tally);
        } finally {
            lock.unlock();
        }
    }
}
