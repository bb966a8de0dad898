package io.millrace.store.memory;

import java.util.concurrent.atomic.LongAdder;
import org.jctools.queues.MpscArrayQueue;

/**
 * A bounded queue of sampled requests to a RAM tier, for estimates of the hit ratio that the tier would have at other
 * sizes. A request is sampled by the hash of its key: a hit costs one comparison, and nothing is allocated.
 *
 * <p>A hit is one request. A new entry that replaces no entry is one request too, because its key was absent. Requests
 * whose responses never enter the tier are not seen; no size of the tier would make them hits.
 *
 * <p>Thread-safe; one thread drains. If the queue is full, a request is counted as lost.
 */
public final class AccessFeed {
    /**
     * Maximum number of requests between two drains. If the draining thread is too slow, further requests are counted
     * as lost, and that thread lowers the sample rate.
     */
    private static final int CAPACITY = 1024;
    /** Threshold while sampling is off: no hash is below this value. */
    private static final long OFF = Long.MIN_VALUE;

    private final MpscArrayQueue<RamEntry> queue = new MpscArrayQueue<>(CAPACITY);
    private final LongAdder absent = new LongAdder();
    private final LongAdder lost = new LongAdder();
    private volatile long threshold = OFF;

    AccessFeed() {}

    /** Receives sampled requests. */
    @FunctionalInterface
    public interface Receiver {
        /**
         * Called for one request.
         *
         * @param hash lower half of the key's hash
         * @param bytes bytes that the entry uses
         * @param keyBytes the key's bytes; borrowed
         */
        void request(long hash, int bytes, byte[] keyBytes);
    }

    /** Adds a request that an entry answered, if the key is sampled. */
    void addHit(RamEntry entry) {
        if (entry.hashLow() < threshold) {
            offer(entry);
        }
    }

    /** Counts the request whose response became a new entry. Adds this request if the key is sampled. */
    void addStored(RamEntry entry) {
        long limit = threshold;
        if (limit != OFF) {
            absent.increment();
            if (entry.hashLow() < limit) {
                offer(entry);
            }
        }
    }

    private void offer(RamEntry entry) {
        if (!queue.offer(entry)) {
            lost.increment();
        }
    }

    /** Samples keys whose hashes are below the threshold. */
    public void sampleBelow(long limit) {
        threshold = limit;
    }

    /** Stops sampling, and forgets the requests in the queue. Only the thread that drains may call it. */
    public void stop() {
        threshold = OFF;
        queue.clear();
    }

    /**
     * Passes requests from the queue to the receiver.
     *
     * @return the number of requests
     */
    public int drain(int max, Receiver receiver) {
        return queue.drain(entry -> receiver.request(entry.hashLow(), entry.weightInTier(), entry.keyBytes()), max);
    }

    /** Returns the number of requests for absent keys while sampling was on. */
    public long absent() {
        return absent.sum();
    }

    /** Returns the number of sampled requests that were lost because the queue was full. */
    public long lost() {
        return lost.sum();
    }
}
