package io.millrace.proxy.purge.record;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Collects one page of purge records from the lines of a log, oldest first. Holds at most one page of
 * records, so that the memory does not depend on the size of the log.
 *
 * <p>Confined to one thread.
 */
final class PurgePage implements Consumer<String> {
    private final @Nullable String before;
    private final int limit;
    private final Map<String, PurgeRecord> records = new LinkedHashMap<>();
    /** Number of purges in the lines that were visited. */
    private long purges;
    /** Value of {@link #purges} at the newest purge of the page. */
    private long newest;

    private boolean hasEnded;

    /**
     * Creates a page.
     *
     * @param before identifier of the purge that follows the page in time; null for the latest purges
     * @param limit limit of records
     */
    PurgePage(@Nullable String before, int limit) {
        this.before = before;
        this.limit = limit;
    }

    @Override
    public void accept(String line) {
        int count = records.size();
        String id = PurgeLine.read(line, records);
        if (id == null || records.size() == count) {
            return;
        }
        purges++;
        hasEnded |= id.equals(before);
        if (hasEnded) {
            records.remove(id);
            return;
        }
        newest = purges;
        if (records.size() > limit) {
            records.remove(records.keySet().iterator().next());
        }
    }

    /**
     * Returns the records, newest first.
     *
     * @param purgesMax limit of the history: only this number of latest purges is returned, over all pages
     * @return null if no purge has the identifier {@code before}
     */
    @Nullable
    List<PurgeRecord> newestFirst(int purgesMax) {
        if (before != null && !hasEnded) {
            return null;
        }
        List<PurgeRecord> all = new ArrayList<>(records.values());
        Collections.reverse(all);
        long remaining = Math.max(0, purgesMax - (purges - newest));
        return all.subList(0, (int) Math.min(all.size(), remaining));
    }
}
