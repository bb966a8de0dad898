package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Lists the objects on disk, without use of event loops. Thread-safe; never blocks. */
@FunctionalInterface
public interface ListSource {
    /**
     * Lists one page.
     *
     * @return the page, or an {@link AdminException} for an invalid query
     */
    CompletionStage<ListReport> list(ListQuery query);

    /**
     * A query. Immutable.
     *
     * @param prefix the prefix of the URL, or null
     * @param regex an RE2 expression that matches a part of the URL, or null
     * @param host the URL's host, with its port if not the default, or null
     * @param site a site of the remap rules, see {@code remap[].site}: only URLs that a rule of this site maps; or null
     * @param where a condition on stored responses (docs/reference/expressions.md), or null
     * @param limit limit of objects on the page
     * @param after {@link ListReport#next} of the previous page, or null
     * @param countsHosts whether to count objects by host instead
     */
    record ListQuery(
            @Nullable String prefix,
            @Nullable String regex,
            @Nullable String host,
            @Nullable String site,
            @Nullable String where,
            int limit,
            @Nullable String after,
            boolean countsHosts) {}

    /**
     * One page. Immutable.
     *
     * @param objects the objects in no particular order; empty if hosts were counted
     * @param hosts the hosts, with the most objects first; empty if objects were listed
     * @param next the start of the next page; null for the last page
     * @param complete whether the inventory (the table from which the page was read) contains all stored objects; an
     *     object stored a moment ago may be missing
     * @param reason the reason if {@code complete} is false; otherwise null
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
     * @param url the URL
     * @param variant the selecting request fields as {@code Name: value}; null without variants
     * @param status the status code
     * @param type the Content-Type, or null
     * @param length bytes of the body; -1 while not known
     * @param whole whether the whole body is stored
     * @param storedAt time of storing or of the last validation, in epoch seconds
     * @param keptUntil end of the time in which it is fresh, may be served stale, or may be validated, in epoch seconds
     * @param tags the tags
     * @param volume the storage path
     * @param segment number of the segment in the storage path
     * @param offset bytes from the start of the segment
     * @param key the bytes of the key in base64url
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
            long offset,
            String key) {}

    /** The stored objects of one host. Immutable. */
    record HostCount(String host, long objects, long bytes) {}
}
