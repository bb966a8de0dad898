package io.millrace.proxy.dictionary;

import io.millrace.proxy.http.TargetUri;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The dictionaries of a proxy, by origin and hash. Bounded by memory: those not used for the longest time are dropped. A
 * URL has one dictionary, the newest. Dictionaries are in memory only; after a restart they are read again from the cache
 * when their responses are served.
 *
 * <p>Thread-safe; a lock is held for a few map operations.
 */
public final class Dictionaries {
    /** Bytes for an entry without its content. */
    private static final int ENTRY_BYTES = 4096;

    /** Limit of the URLs whose last read is remembered. */
    private static final int READS_MAX = 1024;

    /** A response that is served is read at most once in this time, if it did not become a dictionary. */
    private static final long READ_INTERVAL_MILLIS = 60_000;

    private final ReentrantLock lock = new ReentrantLock();
    /** By origin and hash, those not used for the longest time first. */
    private final LinkedHashMap<String, StoredDictionary> byHash = new LinkedHashMap<>(16, 0.75f, true);
    /** The key in {@link #byHash} of each URL. */
    private final Map<String, String> byUrl = new LinkedHashMap<>();
    /** Epoch milliseconds of the last reads of responses that were served, by URL; the oldest first. */
    private final LinkedHashMap<String, Long> reads = new LinkedHashMap<>();

    private long bytes;

    private static String key(TargetUri url, String hashText) {
        return url.scheme() + "://" + url.authority() + " " + hashText;
    }

    private static long bytesOf(StoredDictionary dictionary) {
        return ENTRY_BYTES + dictionary.content().memoryBytes();
    }

    /**
     * Returns the dictionary of the URL's origin with this hash.
     *
     * @param hashText as in Available-Dictionary
     * @return null for none; it may be stale or purged
     */
    public @Nullable StoredDictionary find(TargetUri url, String hashText) {
        String key = key(url, hashText);
        lock.lock();
        try {
            return byHash.get(key);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a dictionary, in place of the one with its URL. Drops others beyond the limit; drops this one if it exceeds the
     * limit alone.
     */
    public void add(StoredDictionary dictionary, long bytesMax) {
        String url = dictionary.url().asString();
        String key = key(dictionary.url(), dictionary.content().hashText());
        lock.lock();
        try {
            remove(url);
            StoredDictionary same = byHash.remove(key);
            if (same != null) {
                byUrl.remove(same.url().asString());
                bytes -= bytesOf(same);
            }
            if (bytesOf(dictionary) > bytesMax) {
                return;
            }
            byHash.put(key, dictionary);
            byUrl.put(url, key);
            reads.remove(url);
            bytes += bytesOf(dictionary);
            while (bytes > bytesMax) {
                StoredDictionary eldest = byHash.values().iterator().next();
                remove(eldest.url().asString());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Forgets the dictionary of a URL, if there is one: another response has replaced it. */
    public void forget(TargetUri url) {
        String text = url.asString();
        lock.lock();
        try {
            remove(text);
        } finally {
            lock.unlock();
        }
    }

    /** Forgets this dictionary, unless a newer one has its URL. */
    @SuppressWarnings("ReferenceEquality") // another object with the same content may be newer
    public void forget(StoredDictionary dictionary) {
        String url = dictionary.url().asString();
        lock.lock();
        try {
            String key = byUrl.get(url);
            if (key != null && byHash.get(key) == dictionary) {
                remove(url);
            }
        } finally {
            lock.unlock();
        }
    }

    private void remove(String url) {
        String key = byUrl.remove(url);
        StoredDictionary removed = key == null ? null : byHash.remove(key);
        if (removed != null) {
            bytes -= bytesOf(removed);
        }
    }

    /**
     * Returns true if a response that is served should be read, because its URL has no dictionary that is fresh, and it
     * was not read a short time before.
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
        String key = byUrl.get(url);
        StoredDictionary known = key == null ? null : byHash.get(key);
        if (known != null && known.freshUntilMillis() > nowMillis) {
            return false;
        }
        Long last = reads.get(url);
        return last == null || nowMillis - last >= READ_INTERVAL_MILLIS;
    }

    /** Notes that a response is read, if it {@link #isWanted is wanted}; returns false otherwise. */
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

    /** Number of dictionaries. */
    public long count() {
        lock.lock();
        try {
            return byHash.size();
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
