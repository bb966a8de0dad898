package io.millrace.proxy.expression.stored;

import io.millrace.proxy.caching.StoredSummary;
import io.millrace.store.ListedObject;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The facts that the inventory has of an object.
 *
 * @param url the URL of its key
 * @param summary of its head
 * @param object its entry
 * @param nowMillis the time that its age is counted to
 * @param inRam whether RAM has it too, asked when an expression wants to know
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

    @Override
    public String tier() {
        return inRam.getAsBoolean() ? "ram" : "disk";
    }
}
