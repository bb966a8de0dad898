package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.purge.record.PurgeId;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Makes unusable what is stored for more than one URL. Thread-safe; never blocks. */
@FunctionalInterface
public interface InvalidationService {
    /**
     * Invalidates; completes when that would survive a crash.
     *
     * @return the report, or an {@link AdminException} for a host, URL or group that cannot be one
     */
    CompletionStage<InvalidationReport> invalidate(Scope scope);

    /**
     * Invalidates a scope for a client.
     *
     * @param caller the client, for the record of the purge
     * @param counts whether to count the objects that it covers
     */
    default CompletionStage<InvalidationReport> invalidate(Scope scope, AdminCaller caller, boolean counts) {
        return invalidate(scope);
    }

    /** How much. */
    enum Kind {
        /** Everything. */
        ALL,
        /** All of a host. */
        HOST,
        /** Every URL that begins with the given one. */
        PREFIX,
        /** A cache group of a host (RFC 9875). */
        GROUP,
        /** Responses with one of the tags, on one site or on every site. */
        TAG,
        /** One URL, softly. */
        URL
    }

    /**
     * What is to be invalidated. Immutable.
     *
     * @param kind how much
     * @param host the host, with its port where that is not the usual one; null but for a host and a group
     * @param text the URL of a prefix or of a single URL, or the name of a group; else null
     * @param soft whether it may be used again once the origin has confirmed it
     * @param tags at least one for tags; else none
     * @param site the site of tags; null for every site
     */
    record Scope(
            Kind kind,
            @Nullable String host,
            @Nullable String text,
            boolean soft,
            List<String> tags,
            @Nullable String site) {
        /** Anything but tags. */
        public Scope(Kind kind, @Nullable String host, @Nullable String text, boolean soft) {
            this(kind, host, text, soft, List.of(), null);
        }
    }

    /**
     * What was done. Immutable.
     *
     * @param scope what was invalidated, in a word: more than was asked for where a table was full
     * @param target the host, URL or group as it was understood
     * @param stamp what was asked of an origin under a lower one is outdated
     * @param detail a sentence for people
     * @param objects objects covered, -1 when not counted
     * @param counting whether the count is in progress
     */
    record InvalidationReport(String scope, String target, long stamp, String detail, long objects, boolean counting) {
        /** Creates a report without a count. */
        public InvalidationReport(String scope, String target, long stamp, String detail) {
            this(scope, target, stamp, detail, -1, false);
        }

        /** Name of this purge, unique in this store. */
        public String id() {
            return PurgeId.ofStamp(stamp);
        }
    }
}
