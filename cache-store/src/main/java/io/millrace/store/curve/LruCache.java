package io.millrace.store.curve;

/** A simulated cache that evicts the least recently used key. */
final class LruCache implements SimulatedCache {
    private final SampledKeys keys;
    private final KeyHolders holders;
    private final KeyQueue queue;
    private final boolean[] present;
    private long bytesMax;

    LruCache(SampledKeys keys, KeyHolders holders) {
        this.keys = keys;
        this.holders = holders;
        queue = new KeyQueue(new KeyQueue.Links(keys.capacity(), 1), keys.capacity(), 0);
        present = new boolean[keys.capacity()];
    }

    @Override
    public boolean access(SampledKey key) {
        if (present[key.id]) {
            queue.remove(key);
            queue.addFirst(key);
            return true;
        }
        if (key.size <= bytesMax) {
            present[key.id] = true;
            holders.retain(key);
            queue.addFirst(key);
            evict();
        }
        return false;
    }

    private void evict() {
        while (queue.bytes() > bytesMax) {
            SampledKey oldest = keys.byId(queue.last());
            if (oldest == null) {
                throw new IllegalStateException("an id in the queue has no key");
            }
            remove(oldest);
        }
    }

    @Override
    public void sizeChanged(SampledKey key, int moreBytes) {
        if (present[key.id]) {
            queue.addBytes(moreBytes);
            evict();
        }
    }

    @Override
    public void remove(SampledKey key) {
        if (present[key.id]) {
            present[key.id] = false;
            queue.remove(key);
            holders.release(key);
        }
    }

    @Override
    public void resize(long bytes) {
        bytesMax = bytes;
        evict();
    }
}
