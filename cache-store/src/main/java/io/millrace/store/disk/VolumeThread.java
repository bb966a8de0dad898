package io.millrace.store.disk;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.MpscBlockingConsumerArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that writes a volume, with its bounded queue. Between tasks it takes steps of background work: one step
 * at a time, the works in turn, and while tasks wait each for no more than half of the time.
 *
 * <p>What {@link Gathering} tasks put together is settled as soon as no such task is queued next: so one of them alone
 * waits for nothing, and those that came while others were written go out together. After such a task the thread rests for
 * a millisecond, in which such tasks do not wake it and any other does: a thread woken for each of many small objects costs more than
 * their writing.
 *
 * <p>Tasks that must not be lost for a full queue may go to a second, bounded one. While that holds any, the first takes no
 * more: so tasks run in the order in which they were taken.
 *
 * <p>Thread-safe.
 */
final class VolumeThread {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeThread.class);
    /** Gathering tasks that come within this time of each other are taken together. */
    private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final MpscBlockingConsumerArrayQueue<Runnable> queue;
    private final ConcurrentLinkedQueue<Runnable> overflow = new ConcurrentLinkedQueue<>();
    private final AtomicInteger overflowing = new AtomicInteger();
    private final Thread thread;
    private final CountDownLatch ended = new CountDownLatch(1);
    /** Threads inside {@link #execute}: the last look at the queue waits for them. */
    private final AtomicInteger offering = new AtomicInteger();

    private final Runnable settle;
    private final long restNanos;
    /** Confined to the thread. */
    private final List<Turn> turns = new ArrayList<>();

    /** Confined to the thread. */
    private boolean mayRest;
    /** Whether the thread waits beside the queue, so that an offer does not wake it. */
    private volatile boolean resting;

    private volatile boolean closed;
    private volatile @Nullable Runnable last;

    /** A task that may leave the end of its work to the settling. */
    interface Gathering extends Runnable {}

    /** Work done in small steps when the thread runs. */
    @FunctionalInterface
    interface BackgroundWork {
        /** What {@link #step} returns to go on at once. */
        long AT_ONCE = 0;
        /** What {@link #step} returns when there is nothing to do before a task has run. */
        long IDLE = Long.MAX_VALUE;

        /**
         * Does a little, a fraction of a millisecond as a rule: tasks wait for it. Returns the nanoseconds until it wants
         * to do more, {@link #AT_ONCE} and {@link #IDLE} among them; idle work is asked again after each task. What was
         * gathered may not be settled yet.
         */
        long step();
    }

    /** A background work and when it is due. */
    private static final class Turn {
        final BackgroundWork work;
        boolean idle;
        long dueNanos = System.nanoTime();

        Turn(BackgroundWork work) {
            this.work = work;
        }
    }

    /**
     * A thread that is yet to be started.
     *
     * @param settle ends what {@link Gathering} tasks have begun; called on the thread, also when there is nothing
     */
    VolumeThread(String name, int capacity, List<BackgroundWork> works, Runnable settle) {
        this(name, capacity, works, settle, REST_NANOS);
    }

    VolumeThread(String name, int capacity, List<BackgroundWork> works, Runnable settle, long restNanos) {
        this.settle = settle;
        this.restNanos = restNanos;
        this.queue = new MpscBlockingConsumerArrayQueue<>(capacity);
        for (BackgroundWork work : works) {
            turns.add(new Turn(work));
        }
        this.thread = new FastThreadLocalThread(this::run, name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Queues a task; false, and it will not run, when the queue is full or closed. A task taken in runs for sure. */
    boolean execute(Runnable task) {
        offering.incrementAndGet();
        boolean taken = !closed && overflowing.get() == 0 && queue.offer(task);
        offering.decrementAndGet();
        if (!(task instanceof Gathering)) {
            endRest();
        }
        return taken;
    }

    /** Whether it waits for what else comes after a gathering task. */
    boolean isResting() {
        return resting;
    }

    private void endRest() {
        if (resting) {
            LockSupport.unpark(thread);
        }
    }

    /**
     * As {@link #execute}, but goes beyond the queue's capacity by up to {@code beyond} tasks: for what gives something up
     * and must not be refused because much is being stored.
     */
    boolean executeBeyond(Runnable task, int beyond) {
        offering.incrementAndGet();
        boolean taken = !closed && overflowing.get() == 0 && queue.offer(task);
        if (!taken && !closed) {
            taken = overflowing.incrementAndGet() <= beyond && overflow.add(task);
            if (!taken) {
                overflowing.decrementAndGet();
            }
            // The queue may have run empty meanwhile; when it is full the thread needs no waking.
            queue.offer(VolumeThread::wakeUp);
        }
        offering.decrementAndGet();
        endRest();
        return taken;
    }

    /** Whether it takes no more tasks, or soon will not. */
    boolean isEnding() {
        return closed || last != null;
    }

    /** Takes no more tasks, runs those queued and then {@code end}, ends the thread, and waits for that. Once only. */
    void stop(Runnable end) throws InterruptedException {
        last = end;
        // When the queue is full the thread needs no waking.
        queue.offer(VolumeThread::wakeUp);
        endRest();
        ended.await();
    }

    private static void wakeUp() {
        // Whoever took this looks around next.
    }

    private void run() {
        try {
            while (last == null) {
                Runnable task = nextTask();
                if (task != null) {
                    runInOrder(task);
                    for (Turn turn : turns) {
                        turn.idle = false;
                    }
                }
                if (last == null) {
                    takeTurn();
                }
            }
        } catch (InterruptedException e) {
            LOG.error("{}: interrupted, the volume is not written any more", thread.getName());
        } finally {
            finish();
        }
    }

    /** The next task; null when background work is due first. */
    private @Nullable Runnable nextTask() throws InterruptedException {
        Runnable task = pollTask();
        if (task != null) {
            return task;
        }
        runOne(settle);
        long now = System.nanoTime();
        long wait = BackgroundWork.IDLE;
        for (Turn turn : turns) {
            wait = turn.idle ? wait : Math.min(wait, turn.dueNanos - now);
        }
        if (wait <= 0) {
            return null;
        }
        if (mayRest) {
            rest(Math.min(wait, restNanos));
            return pollTask();
        }
        return wait == BackgroundWork.IDLE ? queue.take() : queue.poll(wait, TimeUnit.NANOSECONDS);
    }

    /** Waits beside the queue, if that is still empty. */
    private void rest(long nanos) {
        mayRest = false;
        resting = true;
        // What was offered before it is seen that this rests has woken nobody.
        if (queue.isEmpty() && overflow.isEmpty() && last == null) {
            LockSupport.parkNanos(this, nanos);
        }
        resting = false;
    }

    private @Nullable Runnable pollTask() {
        Runnable task = queue.poll();
        if (task == null) {
            task = overflow.poll();
            if (task != null) {
                // What the queue takes from now on runs after it.
                overflowing.decrementAndGet();
            }
        }
        return task;
    }

    private void takeTurn() {
        for (int i = 0; i < turns.size(); i++) {
            Turn turn = turns.get(i);
            long begin = System.nanoTime();
            if (!turn.idle && turn.dueNanos - begin <= 0) {
                // The others come first next time.
                turns.remove(i);
                if (step(turn, begin)) {
                    turns.add(turn);
                }
                return;
            }
        }
    }

    /** False when the work failed and is not to be asked again. */
    private boolean step(Turn turn, long begin) {
        try {
            long wanted = turn.work.step();
            long now = System.nanoTime();
            turn.idle = wanted == BackgroundWork.IDLE;
            turn.dueNanos = now + (queue.isEmpty() || turn.idle ? 0 : now - begin) + (turn.idle ? 0 : wanted);
            return true;
        } catch (Throwable e) {
            LOG.error("{}: background work failed and is given up", thread.getName(), e);
            return false;
        }
    }

    private void finish() {
        closed = true;
        while (offering.get() > 0) {
            Thread.onSpinWait();
        }
        for (Runnable task = pollTask(); task != null; task = pollTask()) {
            runInOrder(task);
        }
        Runnable end = last;
        if (end != null) {
            runInOrder(end);
        }
        ended.countDown();
    }

    private void runInOrder(Runnable task) {
        mayRest = task instanceof Gathering;
        if (!mayRest) {
            runOne(settle);
        }
        runOne(task);
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
