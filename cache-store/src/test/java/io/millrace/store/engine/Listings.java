package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.CacheStore;
import io.millrace.store.ListResult;
import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** Runs listings of a store and waits for their results. */
final class Listings {
    private Listings() {}

    /** Collects objects up to a number. */
    static final class Collected implements ListVisitor {
        final Map<String, ListedObject> objects = new TreeMap<>();
        private final Predicate<String> keys;
        private final int limit;

        Collected(Predicate<String> keys, int limit) {
            this.keys = keys;
            this.limit = limit;
        }

        @Override
        public boolean mayMatch(byte[] key) {
            return keys.test(new String(key, StandardCharsets.ISO_8859_1));
        }

        @Override
        public boolean visit(ListedObject object) {
            ListedObject twice = objects.put(new String(object.key(), StandardCharsets.ISO_8859_1), object);
            assertNull(twice, () -> "shown twice: " + object);
            return objects.size() < limit;
        }
    }

    /** Waits long, because the inventory is written at a limited rate. */
    static ConditionFactory awaiting() {
        return Awaitility.await().atMost(Duration.ofSeconds(60));
    }

    static ListResult list(CacheStore<?> store, String after, ListVisitor visitor) {
        CompletableFuture<ListResult> result = new CompletableFuture<>();
        store.list(after, visitor, Runnable::run, result::complete);
        return TestStore.await(result);
    }

    /** Returns all objects, once the inventory is complete. */
    static Map<String, ListedObject> whole(CacheStore<?> store) {
        list(store, null, new Collected(key -> false, 1));
        awaiting().until(() -> store.inventory().isWhole());
        Collected all = new Collected(key -> true, Integer.MAX_VALUE);
        ListResult result = list(store, null, all);
        assertNull(result.next());
        assertNull(result.obstacle());
        assertTrue(result.isWhole());
        return all.objects;
    }
}
