package io.millrace.cli.log;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Finds the most requested URLs with a table of fixed size (Space-Saving, Metwally 2005). If the table is full, a new
 * URL replaces the URL with the lowest count. The new URL starts with the replaced count, which is stored as its error.
 * So a count is too high by at most its error. Confined to one thread.
 */
public final class TopUrls {
    /** Table entries for each URL in the result. A larger table makes the errors smaller. */
    private static final int ENTRIES_PER_SHOWN = 20;

    private static final int ENTRIES_MIN = 1000;

    /**
     * Limit of URL characters. Longer URLs with the same beginning count as one, so that the table stays below 20 MB.
     */
    private static final int URL_LENGTH_MAX = 1024;

    private final int shown;
    private final int capacity;
    private final Map<String, Entry> entries = new HashMap<>();
    private final PriorityQueue<Rank> ranks = new PriorityQueue<>(Comparator.comparingLong(Rank::count));

    /** The count of a URL when it was last put into the queue. The current count may be higher. */
    private record Rank(Entry entry, long count) {}

    /** The counts of a URL. Confined to one thread. */
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

        /** The number of requests, too high by at most {@link #error}. */
        public long count() {
            return count;
        }

        public long error() {
            return error;
        }

        /** The number of hits among the requests since the URL entered the table. */
        public long hits() {
            return hits;
        }

        /** The bytes sent since the URL entered the table. */
        public long bytes() {
            return bytes;
        }
    }

    /** @param shown limit of URLs in the result */
    public TopUrls(int shown) {
        this.shown = shown;
        this.capacity = Math.max(ENTRIES_MIN, shown * ENTRIES_PER_SHOWN);
    }

    void add(LogLine line) {
        String whole = line.url();
        if (shown == 0 || whole == null) {
            return;
        }
        String url = whole.length() > URL_LENGTH_MAX ? whole.substring(0, URL_LENGTH_MAX) : whole;
        Entry entry = entries.get(url);
        if (entry == null) {
            entry = new Entry(url, entries.size() < capacity ? 0 : removeLeast());
            entries.put(url, entry);
            ranks.add(new Rank(entry, entry.count));
        }
        long weight = line.sample();
        entry.count += weight;
        entry.bytes += weight * line.bytes();
        entry.hits += line.group() == CacheGroup.HIT ? weight : 0;
    }

    /** Removes the URL with the lowest count, and returns this count. */
    private long removeLeast() {
        while (true) {
            Rank least = ranks.remove();
            if (least.count == least.entry.count) {
                entries.remove(least.entry.url);
                return least.count;
            }
            ranks.add(new Rank(least.entry, least.entry.count));
        }
    }

    /** Returns the URLs with the most requests, in descending order. */
    public List<Entry> top() {
        List<Entry> all = new ArrayList<>(entries.values());
        all.sort(Comparator.comparingLong(Entry::count).reversed().thenComparing(Entry::url));
        return List.copyOf(all.subList(0, Math.min(shown, all.size())));
    }
}
