package io.millrace.proxy.expression.stored;

import io.millrace.proxy.caching.StoredSummary;
import io.millrace.store.ListedObject;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The values of expression fields for an entry of the inventory, the table of stored objects.
 *
 * @param url the URL of the cache key
 * @param summary the summary of the stored head
 * @param object the entry of the inventory
 * @param nowMillis the current time for the computation of the age, in epoch milliseconds
 * @param inRam returns whether the object is also in RAM; called only if an expression names the tier
 */
public record ListedFacts(
        StoredUrl url, StoredSummary summary, ListedObject object, long nowMillis, BooleanSupplier inRam)
        implements StoredFacts {
    @Override
    public int status() {
        return summary.status();
    }

    @Override
    public @Nullable String contentType() {
        return summary.type();
    }

    @Override
    public long ageNanos() {
        long millis = nowMillis - TimeUnit.SECONDS.toMillis(object.summary().storedAtSeconds());
        return TimeUnit.MILLISECONDS.toNanos(Math.max(0, millis));
    }

    @Override
    public long bodyBytes() {
        return object.bodyLength();
    }

    @Override
    public List<String> tags() {
        return object.tags();
    }

    /** Returns no values: the inventory has no other response fields. */
    @Override
    public List<String> header(String name) {
        return List.of();
    }

    @Override
    public String tier() {
        return inRam.getAsBoolean() ? "ram" : "disk";
    }
}
