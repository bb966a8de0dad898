package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Removes the stored responses of single URLs. Thread-safe; never blocks. */
@FunctionalInterface
public interface PurgeService {
    /**
     * Purges all stored variants of one URL.
     *
     * @param url an absolute http or https URL, as clients request it
     * @return completes when the purge is durable; with an {@link AdminException} for an invalid URL
     */
    CompletionStage<PurgeReport> purge(String url);

    /**
     * Purges a URL for a client.
     *
     * @param caller the client, for the record of the purge
     * @param counts whether to count the covered objects before they are purged
     */
    default CompletionStage<PurgeReport> purge(String url, AdminCaller caller, boolean counts) {
        return purge(url);
    }

    /**
     * The result of a purge. Immutable.
     *
     * @param url the URL after parsing
     * @param purged whether a response was stored
     * @param detail a sentence for display
     * @param id identifier of the purge, unique in this store
     * @param objects objects covered, -1 when not counted
     * @param fleet the state of the purge on other nodes of the fleet; null without a fleet
     */
    record PurgeReport(
            String url,
            boolean purged,
            String detail,
            String id,
            long objects,
            @Nullable String fleet) {
        /** Creates a report of a purge without counting. It has 0 objects if nothing was stored, otherwise -1. */
        public PurgeReport(String url, boolean purged, String detail, String id) {
            this(url, purged, detail, id, purged ? -1 : 0, null);
        }
    }
}
