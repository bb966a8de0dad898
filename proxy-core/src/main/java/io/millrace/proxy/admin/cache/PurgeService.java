package io.millrace.proxy.admin.cache;

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
     * What a purge did. Immutable.
     *
     * @param url the URL as it was understood
     * @param purged whether anything was stored
     * @param detail a sentence for people
     * @param id name of this purge, unique in this store
     */
    record PurgeReport(String url, boolean purged, String detail, String id) {}
}
