package io.millrace.proxy.purge.pattern;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StoredSummary;
import io.millrace.proxy.expression.stored.StoredFacts;
import io.millrace.proxy.expression.stored.StoredUrl;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The values of a stored response, at the time of a purge, for purge expressions.
 *
 * <p>The values have the precision of the table of stored objects (the inventory). So the removal in the background
 * (sweep) and a cache lookup reach the same result.
 *
 * @param url the URL of the cache key
 * @param head the head of a response
 * @param bodyBytes length of the content; -1 if it is not known
 * @param seconds the time of the purge, in epoch seconds
 */
record HeadFacts(StoredUrl url, StoredHead head, long bodyBytes, long seconds) implements StoredFacts {
    @Override
    public int status() {
        return head.status();
    }

    @Override
    public @Nullable String contentType() {
        return StoredSummary.typeOf(head);
    }

    /** Returns the age in nanoseconds, a whole number of seconds: the inventory contains only whole seconds. */
    @Override
    public long ageNanos() {
        return TimeUnit.SECONDS.toNanos(Math.max(0, seconds - head.responseTimeMillis() / 1000));
    }

    @Override
    public List<String> tags() {
        return head.tags().texts();
    }

    @Override
    public List<String> header(String name) {
        FieldSection fields = head.fields();
        FieldName field = FieldName.of(name);
        List<String> values = new ArrayList<>();
        for (int line = fields.find(field); line >= 0; line = fields.next(field, line)) {
            values.add(fields.value(line));
        }
        return values;
    }

    /** Returns an empty text: purge expressions have no such field. */
    @Override
    public String tier() {
        return "";
    }
}
