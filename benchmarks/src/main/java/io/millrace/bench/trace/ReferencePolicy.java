package io.millrace.bench.trace;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A standard cache policy, used for comparison. An object counts with its size, without overhead. An object that is
 * larger than the cache is not kept.
 */
enum ReferencePolicy {
    LRU {
        @Override
        HitRatio replay(Trace trace, long bytes) {
            return linked(trace, bytes, true);
        }
    },
    FIFO {
        @Override
        HitRatio replay(Trace trace, long bytes) {
            return linked(trace, bytes, false);
        }
    },
    /** Caffeine with the size of an object as its weight. */
    CAFFEINE {
        @Override
        HitRatio replay(Trace trace, long bytes) {
            Cache<Integer, Integer> cache = Caffeine.newBuilder()
                    .maximumWeight(bytes)
                    .weigher((Integer object, Integer size) -> size)
                    .executor(Runnable::run)
                    .build();
            HitRatio.Counter counter = new HitRatio.Counter();
            for (int n = 0; n < trace.length(); n++) {
                int object = trace.request(n);
                int size = trace.size(object);
                boolean hit = cache.getIfPresent(object) != null;
                counter.count(size, hit);
                if (!hit) {
                    cache.put(object, size);
                }
                cache.cleanUp();
            }
            return counter.ratio(0);
        }
    };

    abstract HitRatio replay(Trace trace, long bytes);

    private static HitRatio linked(Trace trace, long bytes, boolean byAccess) {
        LinkedHashMap<Integer, Integer> cache = new LinkedHashMap<>(16, 0.75f, byAccess);
        HitRatio.Counter counter = new HitRatio.Counter();
        long used = 0;
        for (int n = 0; n < trace.length(); n++) {
            int object = trace.request(n);
            int size = trace.size(object);
            boolean hit = cache.get(object) != null;
            counter.count(size, hit);
            if (!hit && size <= bytes) {
                cache.put(object, size);
                used += size;
                Iterator<Map.Entry<Integer, Integer>> oldest = cache.entrySet().iterator();
                while (used > bytes) {
                    used -= oldest.next().getValue();
                    oldest.remove();
                }
            }
        }
        return counter.ratio(0);
    }
}
