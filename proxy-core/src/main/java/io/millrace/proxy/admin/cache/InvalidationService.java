package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.purge.record.PurgeId;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Invalidates the stored responses of a host, prefix, group, tag, pattern or URL, or all stored responses. Soft purges
 * of a single URL use this service: the stored responses may be used again after validation. Hard purges of a single
 * URL use {@link PurgeService}. Thread-safe; never blocks.
 */
@FunctionalInterface
public interface InvalidationService {
    /**
     * Invalidates a scope.
     *
     * @return completes when the purge is durable; with an {@link AdminException} for an invalid host, URL or group
     */
    CompletionStage<InvalidationReport> invalidate(Scope scope);

    /**
     * Invalidates a scope for a client.
     *
     * @param caller the client, for the record of the purge
     * @param counts whether to count the covered objects
     */
    default CompletionStage<InvalidationReport> invalidate(Scope scope, AdminCaller caller, boolean counts) {
        return invalidate(scope);
    }

    /**
     * Checks a scope without invalidating it.
     *
     * @throws AdminException if the scope is invalid, or the client has no right to it
     */
    default void check(Scope scope, AdminCaller caller) throws AdminException {}

    /** The kind of a scope. */
    enum Kind {
        /** Everything. */
        ALL,
        /** All URLs of a host. */
        HOST,
        /** Every URL that begins with the given one. */
        PREFIX,
        /** A cache group of a host (RFC 9875). */
        GROUP,
        /** Responses with one of the tags, on one site or on every site. */
        TAG,
        /** One URL, only for soft purges. */
        URL,
        /** Responses for which an expression is true. */
        PATTERN
    }

    /**
     * The requested scope of a purge. Immutable.
     *
     * @param kind the kind of scope
     * @param host the host, for the kinds HOST and GROUP, with its port if not the default; else null
     * @param text a URL for the kinds PREFIX and URL, a name for GROUP, an expression for PATTERN; else null
     * @param soft whether responses may be used again after validation
     * @param tags the tags, at least one; empty for other kinds
     * @param site the site of tags; null for every site and for other kinds
     */
    record Scope(
            Kind kind,
            @Nullable String host,
            @Nullable String text,
            boolean soft,
            List<String> tags,
            @Nullable String site) {
        /** Creates a scope without tags. */
        public Scope(Kind kind, @Nullable String host, @Nullable String text, boolean soft) {
            this(kind, host, text, soft, List.of(), null);
        }
    }

    /**
     * The result of an invalidation. Immutable.
     *
     * @param scope the kind of scope as a word; wider than requested if the table of purges of that kind was full
     * @param target the host, URL or group after parsing
     * @param stamp number that increases with each purge; covered responses whose fetch began under a lower stamp are
     *     outdated
     * @param detail a sentence for display
     * @param objects objects covered, -1 when not counted
     * @param counting whether the count is in progress
     * @param fleet the state of the purge on other nodes of the fleet; null without a fleet
     */
    record InvalidationReport(
            String scope,
            String target,
            long stamp,
            String detail,
            long objects,
            boolean counting,
            @Nullable String fleet) {
        /** Creates a report without a count. */
        public InvalidationReport(String scope, String target, long stamp, String detail) {
            this(scope, target, stamp, detail, -1, false, null);
        }

        /** Returns the identifier of the purge, unique in this store. */
        public String id() {
            return PurgeId.ofStamp(stamp);
        }
    }
}
