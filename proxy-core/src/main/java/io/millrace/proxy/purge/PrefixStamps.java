package io.millrace.proxy.purge;

import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The purges by path prefix, a short list per host, each with its stamp. A stamp is a number that increases with
 * each purge. Paths are compared in the normal form of cache keys, queries byte for byte. Immutable: changes return
 * a new object.
 */
final class PrefixStamps {
    /** Limit of prefixes per host. A further prefix purges the whole host. */
    static final int PREFIXES_MAX = 16;

    /** Limit of hosts with prefixes. A purge by prefix of a further host purges the whole host. */
    static final int HOSTS_MAX = 256;

    static final PrefixStamps NONE = new PrefixStamps(new long[0], new InvalidationEntry[0][]);

    private final long[] hosts;
    private final InvalidationEntry[][] entries;

    private PrefixStamps(long[] hosts, InvalidationEntry[][] entries) {
        this.hosts = hosts;
        this.entries = entries;
    }

    boolean isEmpty() {
        return hosts.length == 0;
    }

    int size() {
        int count = 0;
        for (InvalidationEntry[] list : entries) {
            count += list.length;
        }
        return count;
    }

    /**
     * Returns the oldest entry of the given kind that covers the URL and has a stamp above {@code responseStamp}.
     * Returns null for none.
     */
    @Nullable
    InvalidationEntry find(long hostHash, TargetUri url, long responseStamp, boolean soft) {
        int at = Arrays.binarySearch(hosts, hostHash);
        if (at < 0) {
            return null;
        }
        byte[] bytes = url.targetBytes();
        int from = url.pathStart();
        int end = url.queryEnd();
        if (UriBytes.hasEncodingsToNormalize(bytes, from, url.pathEnd())) {
            byte[] normal = normal(url);
            bytes = normal;
            from = 0;
            end = normal.length;
        }
        InvalidationEntry first = null;
        for (InvalidationEntry entry : entries[at]) {
            byte[] prefix = entry.prefix();
            boolean startsWithPrefix = end - from >= prefix.length
                    && Arrays.equals(bytes, from, from + prefix.length, prefix, 0, prefix.length);
            boolean isMatch = startsWithPrefix && entry.isSoft() == soft && entry.stamp() > responseStamp;
            if (isMatch && (first == null || entry.stamp() < first.stamp())) {
                first = entry;
            }
        }
        return first;
    }

    /** Returns path and query of a URL in the normal form of cache keys, with which prefixes are compared. */
    static byte[] normal(TargetUri url) {
        byte[] to = new byte[url.queryEnd() - url.pathStart()];
        int pathEnd = UriBytes.normalizePath(url.targetBytes(), url.pathStart(), url.pathEnd(), to, 0);
        int query = url.queryEnd() - url.pathEnd();
        System.arraycopy(url.targetBytes(), url.pathEnd(), to, pathEnd, query);
        return Arrays.copyOf(to, pathEnd + query);
    }

    /**
     * Returns a copy with another entry, without entries that the new entry covers. Returns null if a limit is reached.
     */
    @Nullable
    PrefixStamps with(InvalidationEntry added) {
        int at = Arrays.binarySearch(hosts, added.hash());
        if (at < 0 && hosts.length >= HOSTS_MAX) {
            return null;
        }
        List<InvalidationEntry> list = new ArrayList<>();
        list.add(added);
        if (at >= 0) {
            for (InvalidationEntry entry : entries[at]) {
                if (!isCovered(entry, added)) {
                    list.add(entry);
                }
            }
        }
        return list.size() > PREFIXES_MAX ? null : with(added.hash(), list);
    }

    private static boolean isCovered(InvalidationEntry entry, InvalidationEntry wider) {
        byte[] shorter = wider.prefix();
        byte[] longer = entry.prefix();
        return entry.stamp() <= wider.stamp()
                && (entry.isSoft() || !wider.isSoft())
                && longer.length >= shorter.length
                && Arrays.equals(longer, 0, shorter.length, shorter, 0, shorter.length);
    }

    /** Returns the prefixes of a host; borrowed. */
    InvalidationEntry[] of(long hostHash) {
        int at = Arrays.binarySearch(hosts, hostHash);
        return at < 0 ? new InvalidationEntry[0] : entries[at];
    }

    /**
     * Returns a copy without {@code entry} (if present) and with {@code replacements}. For an undo; the limit of
     * prefixes does not apply.
     */
    PrefixStamps replaced(InvalidationEntry entry, List<InvalidationEntry> replacements) {
        List<InvalidationEntry> list = new ArrayList<>(List.of(of(entry.hash())));
        list.remove(entry);
        list.addAll(replacements);
        return with(entry.hash(), list);
    }

    /** Returns a copy without the prefixes that a purge of their whole host covers. */
    PrefixStamps without(InvalidationEntry host) {
        int at = Arrays.binarySearch(hosts, host.hash());
        if (at < 0) {
            return this;
        }
        List<InvalidationEntry> list = new ArrayList<>();
        for (InvalidationEntry entry : entries[at]) {
            if (entry.stamp() > host.stamp() || (host.isSoft() && !entry.isSoft())) {
                list.add(entry);
            }
        }
        return with(host.hash(), list);
    }

    /**
     * Returns a copy without the entries that purges of everything cover. These are hard entries up to
     * {@code hardUpTo}, and soft entries up to the higher of both stamps.
     */
    PrefixStamps above(long hardUpTo, long softUpTo) {
        PrefixStamps remaining = this;
        for (int at = 0; at < hosts.length; at++) {
            List<InvalidationEntry> list = new ArrayList<>();
            for (InvalidationEntry entry : entries[at]) {
                if (entry.stamp() > (entry.isSoft() ? Math.max(hardUpTo, softUpTo) : hardUpTo)) {
                    list.add(entry);
                }
            }
            if (list.size() < entries[at].length) {
                remaining = remaining.with(hosts[at], list);
            }
        }
        return remaining;
    }

    private PrefixStamps with(long hash, List<InvalidationEntry> list) {
        List<Long> order = new ArrayList<>();
        for (long host : hosts) {
            if (host != hash) {
                order.add(host);
            }
        }
        if (!list.isEmpty()) {
            order.add(hash);
        }
        order.sort(Long::compare);
        long[] nextHosts = new long[order.size()];
        InvalidationEntry[][] next = new InvalidationEntry[order.size()][];
        for (int i = 0; i < nextHosts.length; i++) {
            nextHosts[i] = order.get(i);
            next[i] = nextHosts[i] == hash
                    ? list.toArray(new InvalidationEntry[0])
                    : entries[Arrays.binarySearch(hosts, nextHosts[i])];
        }
        return new PrefixStamps(nextHosts, next);
    }

    void addTo(List<InvalidationEntry> all) {
        for (InvalidationEntry[] list : entries) {
            all.addAll(List.of(list));
        }
    }
}
