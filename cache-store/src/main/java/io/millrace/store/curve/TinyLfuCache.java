package io.millrace.store.curve;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import org.jspecify.annotations.Nullable;

/**
 * A simulated cache with W-TinyLFU, the policy of the RAM tier, as implemented by Caffeine. The size of an object is its
 * weight.
 */
final class TinyLfuCache implements SimulatedCache {
    private final KeyHolders holders;
    private final Cache<SampledKey, SampledKey> policy;
    private long bytesMax;
    private boolean hasEvicted;

    TinyLfuCache(KeyHolders holders) {
        this.holders = holders;
        policy = Caffeine.newBuilder()
                .maximumWeight(0)
                .weigher((SampledKey key, SampledKey value) -> key.size)
                .executor(Runnable::run)
                .evictionListener((@Nullable SampledKey key, @Nullable SampledKey value, RemovalCause cause) -> {
                    if (key != null) {
                        hasEvicted = true;
                        holders.release(key);
                    }
                })
                .build();
    }

    @Override
    public boolean access(SampledKey key) {
        boolean hit = policy.getIfPresent(key) != null;
        if (!hit && key.size <= bytesMax) {
            holders.retain(key);
            policy.put(key, key);
        }
        policy.cleanUp();
        return hit;
    }

    /**
     * Returns true if a key was evicted, because the limit was reached, since the last call of
     * {@link #forgetEvictions}.
     */
    boolean hasEvicted() {
        return hasEvicted;
    }

    void forgetEvictions() {
        hasEvicted = false;
    }

    @Override
    public void sizeChanged(SampledKey key, int moreBytes) {
        if (policy.asMap().replace(key, key) != null) {
            policy.cleanUp();
        }
    }

    @Override
    public void remove(SampledKey key) {
        if (policy.asMap().remove(key) != null) {
            holders.release(key);
        }
    }

    @Override
    public void resize(long bytes) {
        bytesMax = bytes;
        policy.policy().eviction().ifPresent(eviction -> eviction.setMaximum(bytes));
        policy.cleanUp();
    }
}
