package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.exchange.decide.FetchPlan;
import org.jspecify.annotations.Nullable;

/**
 * The invalidations that outdate the response of a fetch in progress: those that began after the fetch. Cache groups
 * and tags are considered once the response head is known.
 *
 * <p>Thread-safe, except {@link #learn}.
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
        return invalidations.ofFetch(plan.keyUrl(), plan.stamp(), labels);
    }

    /** Returns true if an invalidation outdates the response. */
    public boolean isOutdated() {
        return outdated() != null;
    }

    /** Returns true if the response must not be used even as a stale one. */
    public boolean isGone() {
        Outdated by = outdated();
        return by != null && !by.isSoft();
    }

    /**
     * Reads the cache groups and tags of the response. Needed only if the response is stored or shared, since purges of
     * them outdate it.
     */
    public void learn(@Nullable FetchedResponse response) {
        StoredHead head = response == null ? null : response.selectable();
        labels = head == null ? Labels.NONE : head.labels();
    }
}
