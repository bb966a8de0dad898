package io.millrace.proxy.purge.sweep;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StoredSummary;
import io.millrace.proxy.expression.stored.ListedFacts;
import io.millrace.proxy.expression.stored.StoredUrl;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.store.CacheStore;
import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import io.millrace.store.StoreKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Collects the objects of one page that purges by pattern could cover. The pages are those of the inventory, the table
 * of stored objects.
 *
 * <p>Confined to the inventory's thread until the page is complete.
 */
final class CandidatePage implements ListVisitor {
    /** Limit of objects in a page. */
    private static final int CANDIDATES_MAX = 256;
    /** Time limit for the collection of a page. */
    private static final long PAGE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final CacheStore<StoredHead> store;
    private final List<PurgedPattern> patterns;
    private final List<StoreKey> candidates = new ArrayList<>();
    private final long endNanos = System.nanoTime() + PAGE_NANOS;

    CandidatePage(CacheStore<StoredHead> store, List<PurgedPattern> patterns) {
        this.store = store;
        this.patterns = patterns;
    }

    List<StoreKey> candidates() {
        return candidates;
    }

    @Override
    public boolean mayMatch(byte[] key) {
        StoredUrl url = StoredUrl.ofKey(key);
        for (PurgedPattern pattern : patterns) {
            if (pattern.couldCover(url)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean visit(ListedObject object) {
        StoredSummary summary = StoredSummary.read(object.summary().text());
        if (summary.status() != 0 && couldCover(object, summary)) {
            candidates.add(store.key(object.key()));
        }
        return candidates.size() < CANDIDATES_MAX;
    }

    private boolean couldCover(ListedObject object, StoredSummary summary) {
        StoredUrl url = StoredUrl.ofKey(object.key());
        for (PurgedPattern pattern : patterns) {
            // Rounded to whole seconds, because times in the inventory have this unit. Purge expressions cannot name
            // the tier, so the last argument does not matter.
            long millis = TimeUnit.SECONDS.toMillis(pattern.millis() / 1000);
            if (summary.stamp() < pattern.stamp()
                    && pattern.couldCover(new ListedFacts(url, summary, object, millis, () -> false))) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean continues() {
        return System.nanoTime() - endNanos < 0;
    }
}
