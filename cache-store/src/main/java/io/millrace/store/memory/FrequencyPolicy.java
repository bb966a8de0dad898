package io.millrace.store.memory;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Admits and evicts by frequency: Caffeine's W-TinyLFU. A new entry is soon evicted again if its key was requested less
 * often than the key of the entry that it would displace. Thread-safe.
 */
final class FrequencyPolicy implements EvictionPolicy {
    private final Cache<RamEntry, RamEntry> cache;

    /**
     * Creates a policy without entries.
     *
     * @param bytes the first limit
     * @param evicted receives evicted and refused entries
     * @param housekeeping runs evictions that follow a {@link #put}
     */
    FrequencyPolicy(long bytes, Consumer<RamEntry> evicted, Executor housekeeping) {
        this.cache = Caffeine.newBuilder()
                .maximumWeight(bytes)
                .weigher((RamEntry key, RamEntry value) -> value.weight())
                .executor(housekeeping)
                .evictionListener((@Nullable RamEntry key, @Nullable RamEntry value, RemovalCause cause) -> {
                    if (key != null) {
                        evicted.accept(key);
                    }
                })
                .build();
    }

    @Override
    public void put(RamEntry entry) {
        cache.put(entry, entry);
    }

    @Override
    public void recordRequest(RamEntry entry) {
        var unused = cache.getIfPresent(entry);
    }

    @Override
    public void reweigh(RamEntry entry) {
        // replace() and not put(), because the entry may have been removed and must not be added again.
        var unused = cache.asMap().replace(entry, entry);
    }

    @Override
    public void remove(RamEntry entry) {
        cache.invalidate(entry);
    }

    @Override
    public void limit(long bytes) {
        cache.policy().eviction().ifPresent(eviction -> eviction.setMaximum(bytes));
    }

    @Override
    public void evict() {
        cache.cleanUp();
    }

    @Override
    public void retire() {
        cache.invalidateAll();
    }
}
