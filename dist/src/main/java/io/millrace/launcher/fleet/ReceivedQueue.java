package io.millrace.launcher.fleet;

import io.millrace.launcher.fleet.FleetLink.Received;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The received messages of one subscription. If the queue is full, the NATS client's thread that delivers messages
 * waits. The NATS client then keeps further messages, within a limit of its own. Thread-safe.
 */
final class ReceivedQueue {
    /** Limit of messages that wait. */
    private static final int MAX = 8192;

    /** Interval at which a waiting thread checks whether the subscription has ended. */
    private static final long LOOK_AGAIN_MILLIS = 100;

    private final BlockingQueue<Received> queue = new LinkedBlockingQueue<>(MAX);
    private final Runnable wakeUp;
    private volatile boolean ended;

    /** @param wakeUp runs after each message, to wake the thread of the fleet */
    ReceivedQueue(Runnable wakeUp) {
        this.wakeUp = wakeUp;
    }

    /** Adds a message; waits while the queue is full. */
    void put(Received message) {
        try {
            while (!ended && !queue.offer(message, LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS)) {
                wakeUp.run();
            }
            wakeUp.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Nullable
    Received poll() {
        return queue.poll();
    }

    @Nullable
    Received peek() {
        return queue.peek();
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }

    /** Ignores further messages. */
    void end() {
        ended = true;
    }
}
