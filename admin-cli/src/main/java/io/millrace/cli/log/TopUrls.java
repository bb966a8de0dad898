package io.millrace.cli.log;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * The URLs that are asked for most, in a table of fixed size (Metwally and others, Space-Saving, 2005): a URL that is not in the full
 * table takes the place of the one with the fewest requests, and its count, as what it may have had before. A count is too high by
 * at most its error. Confined to one thread.
 */
public final class TopUrls {
    /** URLs kept for each that is shown, so that errors are small for those. */
    private static final int KEPT_PER_SHOWN = 20;

    private static final int KEPT_MIN = 1000;

    /** Those that begin so far alike count as one: the table stays below 20 MB. */
    private static final int URL_LENGTH_MAX = 1024;

    private final int shown;
    private final int kept;
    private final Map<String, Entry> entries = new HashMap<>();
    private final PriorityQueue<Rank> ranks = new PriorityQueue<>(Comparator.comparingLong(Rank::count));

    /** A URL's place when it was last looked at; it may have more requests by now. */
    private record Rank(Entry entry, long count) {}

    /** A URL. Confined to one thread. */
    public static final class Entry {
        private final String url;
        private long count;
        private final long error;
        private long hits;
        private long bytes;

        private Entry(String url, long error) {
            this.url = url;
            this.error = error;
            this.count = error;
        }

        public String url() {
            return url;
        }

        /** Requests, at most {@link #error} too many. */
        public long count() {
            return count;
        }

        public long error() {
            return error;
        }

        /** Of the requests that were seen since it is in the table. */
        public long hits() {
            return hits;
        }

        /** Sent for the same. */
        public long bytes() {
            return bytes;
        }
    }

    /** @param shown how many are wanted in the end, at most */
    public TopUrls(int shown) {
        this.shown = shown;
        this.kept = Math.max(KEPT_MIN, shown * KEPT_PER_SHOWN);
    }

    void add(LogLine line) {
        String whole = line.url();
        if (shown == 0 || whole == null) {
            return;
        }
        String url = whole.length() > URL_LENGTH_MAX ? whole.substring(0, URL_LENGTH_MAX) : whole;
        Entry entry = entries.get(url);
        if (entry == null) {
            entry = new Entry(url, entries.size() < kept ? 0 : leave());
            entries.put(url, entry);
            ranks.add(new Rank(entry, entry.count));
        }
        entry.count++;
        entry.bytes += line.bytes();
        entry.hits += line.group() == CacheGroup.HIT ? 1 : 0;
    }

    /** Takes the URL with the fewest requests out, and returns how many it had. */
    private long leave() {
        while (true) {
            Rank least = ranks.remove();
            if (least.count == least.entry.count) {
                entries.remove(least.entry.url);
                return least.count;
            }
            ranks.add(new Rank(least.entry, least.entry.count));
        }
    }

    /** The most requests first. */
    public List<Entry> top() {
        List<Entry> all = new ArrayList<>(entries.values());
        all.sort(Comparator.comparingLong(Entry::count).reversed().thenComparing(Entry::url));
        return List.copyOf(all.subList(0, Math.min(shown, all.size())));
    }
}
