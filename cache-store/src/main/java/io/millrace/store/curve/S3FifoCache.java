package io.millrace.store.curve;

/**
 * A simulated cache with the policy S3-FIFO: a small queue for new keys, a main queue, and a list of evicted keys.
 * Source: Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023.
 */
final class S3FifoCache implements SimulatedCache {
    /** Divisor of the capacity: the size of the small queue. */
    private static final int SMALL_QUEUE_DIVISOR = 10;

    private static final byte HITS_MAX = 3;
    /** Number of hits after which a key of the small queue moves to the main queue. */
    private static final byte HITS_TO_MAIN = 2;

    private static final byte ABSENT = 0;
    private static final byte SMALL = 1;
    private static final byte MAIN = 2;
    private static final byte GHOST = 3;

    private final SampledKeys keys;
    private final KeyHolders holders;
    private final KeyQueue small;
    private final KeyQueue main;
    private final KeyQueue ghosts;
    private final byte[] place;
    private final byte[] hits;
    private long bytesMax;

    S3FifoCache(SampledKeys keys, KeyHolders holders) {
        this.keys = keys;
        this.holders = holders;
        KeyQueue.Links links = new KeyQueue.Links(keys.capacity(), 3);
        small = new KeyQueue(links, keys.capacity(), 0);
        main = new KeyQueue(links, keys.capacity(), 1);
        ghosts = new KeyQueue(links, keys.capacity(), 2);
        place = new byte[keys.capacity()];
        hits = new byte[keys.capacity()];
    }

    @Override
    public boolean access(SampledKey key) {
        byte at = place[key.id];
        if (at == SMALL || at == MAIN) {
            hits[key.id] = (byte) Math.min(HITS_MAX, hits[key.id] + 1);
            return true;
        }
        if (key.size > bytesMax) {
            return false;
        }
        holders.retain(key);
        if (at == GHOST) {
            remove(key);
        }
        hits[key.id] = 0;
        place[key.id] = at == GHOST ? MAIN : SMALL;
        queue(place[key.id]).addFirst(key);
        evict();
        return false;
    }

    private KeyQueue queue(byte at) {
        return at == SMALL ? small : at == MAIN ? main : ghosts;
    }

    private SampledKey last(KeyQueue queue) {
        SampledKey oldest = keys.byId(queue.last());
        if (oldest == null) {
            throw new IllegalStateException("an id in the queue has no key");
        }
        return oldest;
    }

    private void evict() {
        while (small.bytes() + main.bytes() > bytesMax) {
            if (main.isEmpty() || (!small.isEmpty() && small.bytes() > bytesMax / SMALL_QUEUE_DIVISOR)) {
                evictSmall(last(small));
            } else {
                evictMain(last(main));
            }
        }
        while (ghosts.bytes() > bytesMax - bytesMax / SMALL_QUEUE_DIVISOR) {
            remove(last(ghosts));
        }
    }

    private void evictSmall(SampledKey key) {
        small.remove(key);
        if (hits[key.id] >= HITS_TO_MAIN) {
            hits[key.id] = 0;
            place[key.id] = MAIN;
            main.addFirst(key);
        } else {
            place[key.id] = GHOST;
            ghosts.addFirst(key);
        }
    }

    private void evictMain(SampledKey key) {
        if (hits[key.id] > 0) {
            hits[key.id]--;
            main.remove(key);
            main.addFirst(key);
        } else {
            remove(key);
        }
    }

    @Override
    public void sizeChanged(SampledKey key, int moreBytes) {
        if (place[key.id] != ABSENT) {
            queue(place[key.id]).addBytes(moreBytes);
            evict();
        }
    }

    @Override
    public void remove(SampledKey key) {
        byte at = place[key.id];
        if (at != ABSENT) {
            place[key.id] = ABSENT;
            queue(at).remove(key);
            holders.release(key);
        }
    }

    @Override
    public void resize(long bytes) {
        bytesMax = bytes;
        evict();
    }
}
