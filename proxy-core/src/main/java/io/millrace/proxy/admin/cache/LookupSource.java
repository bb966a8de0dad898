package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Looks up stored responses without side effects: it counts no hit and fetches nothing. Thread-safe; never blocks. */
@FunctionalInterface
public interface LookupSource {
    /**
     * Looks up the stored response of a URL.
     *
     * @param url an absolute http or https URL, as clients request it
     * @param fields request header fields that select a variant
     * @return the report, or an {@link AdminException} for an invalid URL
     */
    CompletionStage<LookupReport> lookup(String url, List<Field> fields);

    /** A request header field. */
    record Field(String name, String value) {}

    /**
     * The result of a lookup. Immutable.
     *
     * @param url the URL after parsing
     * @param key the cache key, printable; null without a matching rule
     * @param rule the matching remap rule; null for none
     * @param stored the selected response; null for none
     * @param reason a sentence that explains why the response would be served or not
     * @param others the results for other keys of the URL, which depend on the port of the request; usually empty
     */
    record LookupReport(
            String url,
            @Nullable String key,
            @Nullable String rule,
            @Nullable Stored stored,
            String reason,
            List<LookupReport> others) {
        /** Creates the result for a URL with one key. */
        public LookupReport(
                String url, @Nullable String key, @Nullable String rule, @Nullable Stored stored, String reason) {
            this(url, key, rule, stored, reason, List.of());
        }
    }

    /**
     * A stored response. Immutable.
     *
     * @param tier {@code ram} or {@code disk}
     * @param status the status code
     * @param fresh whether it would be served without a request to the origin
     * @param ageSeconds the current age (RFC 9111 section 4.2.3)
     * @param freshnessLifetimeSeconds the freshness lifetime (RFC 9111 section 4.2.1)
     * @param length length of the body in bytes
     * @param vary the field names that select a variant
     * @param etag the entity tag, or null
     * @param lastModified the value of Last-Modified, or null
     * @param tags the tags
     */
    record Stored(
            String tier,
            int status,
            boolean fresh,
            long ageSeconds,
            long freshnessLifetimeSeconds,
            long length,
            List<String> vary,
            @Nullable String etag,
            @Nullable String lastModified,
            List<String> tags) {}
}
