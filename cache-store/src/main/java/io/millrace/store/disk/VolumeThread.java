package io.millrace.store.disk;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.MpscBlockingConsumerArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that writes a volume, with its bounded queue. Between tasks it takes a step of the recovery, as long as
 * there is one.
 *
 * <p>Thread-safe.
 */
final class VolumeThread {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeThread.class);

    private final MpscBlockingConsumerArrayQueue<Runnable> queue;
    private final Thread thread;
    private final CountDownLatch ended = new CountDownLatch(1);
    /** Threads inside {@link #execute}: the last look at the queue waits for them. */
    private final AtomicInteger offering = new AtomicInteger();

    private @Nullable BackgroundWork work;
    private volatile boolean closed;
    private volatile @Nullable Runnable last;

    /** Work done in small steps when the thread runs. */
    @FunctionalInterface
    interface BackgroundWork {
        /** Does a little; false when all is done. */
        boolean step();
    }

    VolumeThread(String name, int capacity, @Nullable BackgroundWork work) {
        this.queue = new MpscBlockingConsumerArrayQueue<>(capacity);
        this.work = work;
        this.thread = new FastThreadLocalThread(this::run, name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Queues a task; false, and it will not run, when the queue is full or closed. A task taken in runs for sure. */
    boolean execute(Runnable task) {
        offering.incrementAndGet();
        boolean taken = !closed && queue.offer(task);
        offering.decrementAndGet();
        return taken;
    }

    /** Takes no more tasks, runs those queued and then {@code end}, ends the thread, and waits for that. Once only. */
    void stop(Runnable end) throws InterruptedException {
        last = end;
        // When the queue is full the thread needs no waking.
        execute(VolumeThread::wakeUp);
        ended.await();
    }

    private static void wakeUp() {
        // Whoever took this looks around next.
    }

    private void run() {
        try {
            while (last == null) {
                Runnable task = work == null ? queue.take() : queue.poll();
                if (task != null) {
                    runOne(task);
                }
                BackgroundWork current = work;
                if (current != null && last == null && !current.step()) {
                    work = null;
                }
            }
        } catch (InterruptedException e) {
            LOG.error("{}: interrupted, the volume is not written any more", thread.getName());
        } finally {
            finish();
        }
    }

    private void finish() {
        closed = true;
        while (offering.get() > 0) {
            Thread.onSpinWait();
        }
        for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
            runOne(task);
        }
        Runnable end = last;
        if (end != null) {
            runOne(end);
        }
        ended.countDown();
    }

    private void runOne(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            // A fault in one task, be it a mapped page that cannot be read, must not end the volume's thread.
            LOG.error("{}: task failed", thread.getName(), e);
        }
    }
}
