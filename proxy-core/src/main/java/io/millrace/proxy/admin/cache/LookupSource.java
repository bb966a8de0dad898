package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Looks into the cache without touching it: no hit is counted and nothing is fetched. Thread-safe; never blocks. */
@FunctionalInterface
public interface LookupSource {
    /**
     * What is stored for a URL.
     *
     * @param url an absolute http or https URL, as clients ask for it
     * @param fields request header fields that choose a variant
     * @return the report, or an {@link AdminException} for a URL that cannot be one
     */
    CompletionStage<LookupReport> lookup(String url, List<Field> fields);

    /** A request header field. */
    record Field(String name, String value) {}

    /**
     * What was found. Immutable.
     *
     * @param url the URL as it was understood
     * @param key the cache key, printable; null when no rule matches
     * @param rule the remap rule that matches, null when none does
     * @param stored the response that would be chosen, null when there is none
     * @param reason a sentence: why it would or would not be served
     * @param others what is under the other keys that the URL has, as the port decides on which a request arrives; mostly none
     */
    record LookupReport(
            String url,
            @Nullable String key,
            @Nullable String rule,
            @Nullable Stored stored,
            String reason,
            List<LookupReport> others) {
        /** A URL with one key. */
        public LookupReport(
                String url, @Nullable String key, @Nullable String rule, @Nullable Stored stored, String reason) {
            this(url, key, rule, stored, reason, List.of());
        }
    }

    /**
     * A stored response. Immutable.
     *
     * @param tier {@code ram} or {@code disk}
     * @param status its status code
     * @param fresh whether it would be served without asking the origin
     * @param ageSeconds its current age (RFC 9111 section 4.2.3)
     * @param freshnessLifetimeSeconds its freshness lifetime (RFC 9111 section 4.2.1)
     * @param length the body's length in bytes
     * @param vary the field names that choose among variants
     * @param etag its entity tag, or null
     * @param lastModified its Last-Modified, or null
     * @param tags its tags
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
