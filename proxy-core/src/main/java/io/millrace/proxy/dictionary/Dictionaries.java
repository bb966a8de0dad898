package io.millrace.proxy.dictionary;

import io.millrace.proxy.encode.CompressionDictionary;
import io.millrace.proxy.http.TargetUri;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The compression dictionaries of a proxy, found by URL, or by origin and hash. Their memory is bounded: the least
 * recently used dictionaries are dropped. A URL has one dictionary, the newest. Responses of one origin with equal
 * content share the memory of this content. Dictionaries are in memory only; after a restart they are read again from
 * the cache when their responses are served.
 *
 * <p>Thread-safe; a lock is held for a few map operations.
 */
public final class Dictionaries {
    /** Limit of responses with equal content, because a request checks them one by one; the oldest is dropped. */
    static final int RESPONSES_MAX = 4;

    /** Limit of URLs whose last read is remembered, and therefore of the reads in {@link #READ_INTERVAL_MILLIS}. */
    static final int READS_MAX = 1024;

    /** Minimum time between two reads of one response that are begun because the response is served. */
    private static final long READ_INTERVAL_MILLIS = 60_000;

    private final ReentrantLock lock = new ReentrantLock();
    /** By origin and hash; the least recently used first. */
    private final LinkedHashMap<String, Content> byHash = new LinkedHashMap<>();

    private final Map<String, StoredDictionary> byUrl = new HashMap<>();
    /** Time of the last read of each served response by URL, in epoch milliseconds; the oldest first. */
    private final LinkedHashMap<String, Long> reads = new LinkedHashMap<>();

    private long bytes;
    private long bytesMax = Long.MAX_VALUE;
    /** Number of calls of {@link #clear}. */
    private int generation;

    /** The content of a dictionary, and the stored responses with this content. */
    private static final class Content {
        private final CompressionDictionary dictionary;
        /** The newest first. Immutable: replaced at each change, since requests read it without the lock. */
        private List<StoredDictionary> responses = List.of();

        Content(CompressionDictionary dictionary) {
            this.dictionary = dictionary;
        }

        @SuppressWarnings("ReferenceEquality") // others may have the same content
        private List<StoredDictionary> without(StoredDictionary removed) {
            List<StoredDictionary> others = new ArrayList<>(responses);
            others.removeIf(other -> other == removed);
            return others;
        }
    }

    private static String key(TargetUri url, String hashText) {
        return url.scheme() + "://" + url.authority() + " " + hashText;
    }

    private static String keyOf(StoredDictionary dictionary) {
        return key(dictionary.url(), dictionary.content().hashText());
    }

    /**
     * Returns the dictionaries of the URL's origin with this hash, the newest first. They may be stale or purged. Does
     * not count as a use.
     *
     * @param hashText as in Available-Dictionary
     */
    public List<StoredDictionary> find(TargetUri url, String hashText) {
        String key = key(url, hashText);
        lock.lock();
        try {
            Content found = byHash.get(key);
            return found == null ? List.of() : found.responses;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the content that the dictionaries with this hash share; null for none. Does not count as a use. */
    public @Nullable CompressionDictionary content(TargetUri url, String hashText) {
        List<StoredDictionary> found = find(url, hashText);
        return found.isEmpty() ? null : found.get(0).content();
    }

    /** Returns the dictionary of a URL; null for none. It may be stale or purged. Does not count as a use. */
    @Nullable
    StoredDictionary of(TargetUri url) {
        String text = url.asString();
        lock.lock();
        try {
            return byUrl.get(text);
        } finally {
            lock.unlock();
        }
    }

    /** Notes that a dictionary is used for a request. */
    void used(StoredDictionary dictionary) {
        String key = keyOf(dictionary);
        lock.lock();
        try {
            Content content = byHash.remove(key);
            if (content != null) {
                byHash.put(key, content);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a dictionary, which replaces the earlier dictionary of its URL. If equal content is known, the known object
     * with its encoder tables is kept. Drops the least recently used dictionaries beyond the limit. A dictionary that
     * exceeds the limit by itself is not added.
     *
     * @param limit limit of the memory in bytes, as configured when the response was read
     * @param since the result of {@link #generation} before the response was read; the dictionary is ignored if
     *     {@link #clear} was called since
     */
    public void add(StoredDictionary dictionary, long limit, int since) {
        String url = dictionary.url().asString();
        String key = keyOf(dictionary);
        lock.lock();
        try {
            StoredDictionary present = byUrl.get(url);
            boolean isOlder = present != null
                    && present.head().responseTimeMillis() > dictionary.head().responseTimeMillis();
            if (since != generation || isOlder) {
                return;
            }
            Content known = byHash.get(key);
            CompressionDictionary content = known == null ? dictionary.content() : known.dictionary;
            remove(url);
            long maximum = Math.min(limit, bytesMax);
            if (CompressionDictionary.RESPONSE_BYTES + content.memoryBytes() > maximum) {
                return;
            }
            put(url, key, dictionary.withContent(content));
            trim(maximum);
        } finally {
            lock.unlock();
        }
    }

    private void put(String url, String key, StoredDictionary dictionary) {
        // Removed and added again, so that it becomes the most recently used one.
        Content content = byHash.remove(key);
        if (content == null) {
            content = new Content(dictionary.content());
            bytes += content.dictionary.memoryBytes();
        }
        byHash.put(key, content);
        List<StoredDictionary> responses = new ArrayList<>();
        responses.add(dictionary);
        responses.addAll(content.responses);
        if (responses.size() > RESPONSES_MAX) {
            byUrl.remove(responses.remove(RESPONSES_MAX).url().asString());
            bytes -= CompressionDictionary.RESPONSE_BYTES;
        }
        content.responses = List.copyOf(responses);
        byUrl.put(url, dictionary);
        bytes += CompressionDictionary.RESPONSE_BYTES;
    }

    private void trim(long maximum) {
        while (bytes > maximum && !byHash.isEmpty()) {
            for (StoredDictionary eldest : byHash.values().iterator().next().responses) {
                remove(eldest.url().asString());
            }
        }
    }

    /**
     * Sets the limit of the memory, and drops dictionaries beyond it.
     *
     * @param limit bytes; 0 if dictionaries are not used any more
     */
    public void limit(long limit) {
        lock.lock();
        try {
            bytesMax = limit;
            trim(limit);
        } finally {
            lock.unlock();
        }
    }

    /** Returns a number that {@link #clear} changes. */
    int generation() {
        lock.lock();
        try {
            return generation;
        } finally {
            lock.unlock();
        }
    }

    /** Forgets all dictionaries, including those that are being read, and the times of reads. */
    public void clear() {
        lock.lock();
        try {
            generation++;
            byHash.clear();
            byUrl.clear();
            reads.clear();
            bytes = 0;
        } finally {
            lock.unlock();
        }
    }

    /** Forgets the dictionary of a URL, if there is one, because another response has replaced it. */
    public void forget(TargetUri url) {
        String text = url.asString();
        lock.lock();
        try {
            remove(text);
        } finally {
            lock.unlock();
        }
    }

    /** Forgets this dictionary, unless another one has replaced it for its URL. */
    @SuppressWarnings("ReferenceEquality") // another object with the same content may be newer
    public void forget(StoredDictionary dictionary) {
        String url = dictionary.url().asString();
        lock.lock();
        try {
            if (byUrl.get(url) == dictionary) {
                remove(url);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Replaces a dictionary by one with the same URL and content. Does not count as a use.
     *
     * @return false if {@code known} was dropped or replaced meanwhile
     */
    @SuppressWarnings("ReferenceEquality") // another object with the same content may be newer
    boolean replace(StoredDictionary known, StoredDictionary replacement) {
        String url = known.url().asString();
        String key = keyOf(known);
        lock.lock();
        try {
            Content content = byHash.get(key);
            if (byUrl.get(url) != known || content == null) {
                return false;
            }
            List<StoredDictionary> responses = content.without(known);
            responses.add(0, replacement);
            content.responses = List.copyOf(responses);
            byUrl.put(url, replacement);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void remove(String url) {
        StoredDictionary removed = byUrl.remove(url);
        if (removed == null) {
            return;
        }
        String key = keyOf(removed);
        Content content = byHash.get(key);
        bytes -= CompressionDictionary.RESPONSE_BYTES;
        if (content == null) {
            return;
        }
        content.responses = List.copyOf(content.without(removed));
        if (content.responses.isEmpty()) {
            byHash.remove(key);
            bytes -= content.dictionary.memoryBytes();
        }
    }

    /**
     * Returns true if a served response should be read: its URL has no fresh dictionary, and the response was not read
     * within the last {@link #READ_INTERVAL_MILLIS}. Returns false if dictionaries are not used, or if {@link
     * #READS_MAX} responses were read within this time. Does not count as a use.
     */
    public boolean isWanted(TargetUri url, long nowMillis) {
        String text = url.asString();
        lock.lock();
        try {
            return isWanted(text, nowMillis);
        } finally {
            lock.unlock();
        }
    }

    private boolean isWanted(String url, long nowMillis) {
        StoredDictionary known = byUrl.get(url);
        if (bytesMax == 0 || (known != null && known.freshUntilMillis() > nowMillis)) {
            return false;
        }
        Long last = reads.get(url);
        if (last != null) {
            return isLongAgo(last, nowMillis);
        }
        return reads.size() < READS_MAX || isLongAgo(reads.values().iterator().next(), nowMillis);
    }

    /** Returns true if the minimum time between reads has passed, or if the clock was set back. */
    private static boolean isLongAgo(long millis, long nowMillis) {
        return nowMillis - millis >= READ_INTERVAL_MILLIS || nowMillis < millis;
    }

    /** Notes that a response is read now, if {@link #isWanted} is true for its URL; returns false otherwise. */
    public boolean beginRead(TargetUri url, long nowMillis) {
        String text = url.asString();
        lock.lock();
        try {
            if (!isWanted(text, nowMillis)) {
                return false;
            }
            reads.remove(text);
            reads.put(text, nowMillis);
            if (reads.size() > READS_MAX) {
                reads.remove(reads.keySet().iterator().next());
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Number of responses that are dictionaries. */
    public long count() {
        lock.lock();
        try {
            return byUrl.size();
        } finally {
            lock.unlock();
        }
    }

    /** Bytes of memory that all dictionaries use. */
    public long bytes() {
        lock.lock();
        try {
            return bytes;
        } finally {
            lock.unlock();
        }
    }
}
