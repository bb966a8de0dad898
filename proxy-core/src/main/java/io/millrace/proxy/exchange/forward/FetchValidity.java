package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.exchange.decide.FetchPlan;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether an invalidation has outdated the response of a fetch in progress. Only invalidations that began after
 * the fetch are considered. Cache groups and tags are considered once the response head is known.
 *
 * <p>Thread-safe, except {@link #readLabels}.
 */
public final class FetchValidity {
    private final Invalidations invalidations;
    private final FetchPlan plan;
    private volatile Labels labels = Labels.NONE;

    /** Creates the state before the response head. */
    public FetchValidity(Invalidations invalidations, FetchPlan plan) {
        this.invalidations = invalidations;
        this.plan = plan;
    }

    private @Nullable Outdated outdated() {
        return invalidations.ofFetch(plan.keyUrl(), plan.lookupStamp(), labels);
    }

    /** Returns true if an invalidation outdates the response. */
    public boolean isOutdated() {
        return outdated() != null;
    }

    /** Returns true if a hard invalidation outdates the response, so that it must not be used even stale. */
    public boolean isHardInvalidated() {
        Outdated invalidation = outdated();
        return invalidation != null && !invalidation.isSoft();
    }

    /**
     * Reads the cache groups and tags of the response, so that their purges outdate it. Needed only if the response is
     * stored or shared.
     */
    public void readLabels(@Nullable FetchedResponse response) {
        StoredHead head = response == null ? null : response.selectable();
        labels = head == null ? Labels.NONE : head.labels();
    }
}
