package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import java.util.concurrent.CompletionStage;

/** Makes stored responses unusable at once. Thread-safe; never blocks. */
@FunctionalInterface
public interface PurgeService {
    /**
     * Purges every stored variant of one URL; completes when the purge would survive a crash.
     *
     * @param url an absolute http or https URL, as clients ask for it
     * @return the report, or an {@link AdminException} for a URL that cannot be one
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
     * What a purge did. Immutable.
     *
     * @param url the URL as it was understood
     * @param purged whether anything was stored
     * @param detail a sentence for people
     * @param id name of this purge, unique in this store
     * @param objects objects covered, -1 when not counted
     */
    record PurgeReport(String url, boolean purged, String detail, String id, long objects) {
        /** Creates a report whose count is known only if nothing was stored. */
        public PurgeReport(String url, boolean purged, String detail, String id) {
            this(url, purged, detail, id, purged ? -1 : 0);
        }
    }
}
