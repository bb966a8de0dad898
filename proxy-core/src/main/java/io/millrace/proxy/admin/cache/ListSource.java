package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Shows what the disk holds, off every request path. Thread-safe; never blocks. */
@FunctionalInterface
public interface ListSource {
    /**
     * One page.
     *
     * @return the report, or an {@link AdminException} for a question that cannot be answered
     */
    CompletionStage<ListReport> list(ListQuery query);

    /**
     * What is asked for. Immutable.
     *
     * @param prefix what the URL begins with, or null
     * @param regex an RE2 expression that is found in the URL, or null
     * @param host the URL's host, with its port unless it is the scheme's default, or null
     * @param where an expression over stored responses that must hold (docs/reference/expressions.md), or null
     * @param limit most objects on the page
     * @param after {@link ListReport#next} of the page before, or null
     * @param countsHosts whether to count by host instead
     */
    record ListQuery(
            @Nullable String prefix,
            @Nullable String regex,
            @Nullable String host,
            @Nullable String where,
            int limit,
            @Nullable String after,
            boolean countsHosts) {}

    /**
     * One page. Immutable.
     *
     * @param objects in no particular order; empty when hosts were counted
     * @param hosts the most objects first; empty when objects were asked for
     * @param next where the next page begins, or null when this was the last
     * @param complete whether everything that is stored was looked at, but for what was stored just now
     * @param reason why not, or null
     */
    record ListReport(
            List<Listed> objects,
            List<HostCount> hosts,
            @Nullable String next,
            boolean complete,
            @Nullable String reason) {}

    /**
     * A stored response. Immutable.
     *
     * @param url its URL
     * @param variant the request fields that selected it, as {@code Name: value}; null when it does not vary
     * @param status its status code
     * @param type its Content-Type, or null
     * @param length bytes of its body, -1 while not known
     * @param whole whether all of the body is stored
     * @param storedAt when it was stored or last validated, in epoch seconds
     * @param keptUntil when it stops being worth keeping, in epoch seconds
     * @param tags its tags
     * @param volume the storage path
     * @param segment number of the segment in it
     * @param offset bytes from the segment's start
     */
    record Listed(
            String url,
            @Nullable String variant,
            int status,
            @Nullable String type,
            long length,
            boolean whole,
            long storedAt,
            long keptUntil,
            List<String> tags,
            String volume,
            int segment,
            long offset) {}

    /** What is stored of one host. Immutable. */
    record HostCount(String host, long objects, long bytes) {}
}
