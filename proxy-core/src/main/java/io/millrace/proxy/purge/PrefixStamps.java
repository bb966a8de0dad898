package io.millrace.proxy.purge;

import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Beginnings of paths that were invalidated, a short list for each host that has any. Paths are compared in the normal form of
 * cache keys, their queries byte for byte. Immutable: a change makes a new one.
 */
final class PrefixStamps {
    /** Most of one host; it is the whole host then. */
    static final int PREFIXES_MAX = 16;

    /** Most hosts that have some; another one is then invalidated as a whole. */
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

    /** Of the entries of that hardness that cover the URL and have a stamp beyond, the one that came first; null for none. */
    @Nullable
    InvalidationEntry find(long hostHash, TargetUri url, long beyond, boolean soft) {
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
            boolean begins = end - from >= prefix.length
                    && Arrays.equals(bytes, from, from + prefix.length, prefix, 0, prefix.length);
            boolean counts = begins && entry.isSoft() == soft && entry.stamp() > beyond;
            if (counts && (first == null || entry.stamp() < first.stamp())) {
                first = entry;
            }
        }
        return first;
    }

    /** Path and query of a URL as prefixes are compared with them. */
    static byte[] normal(TargetUri url) {
        byte[] to = new byte[url.queryEnd() - url.pathStart()];
        int pathEnd = UriBytes.normalizePath(url.targetBytes(), url.pathStart(), url.pathEnd(), to, 0);
        int query = url.queryEnd() - url.pathEnd();
        System.arraycopy(url.targetBytes(), url.pathEnd(), to, pathEnd, query);
        return Arrays.copyOf(to, pathEnd + query);
    }

    /** With one more, in place of those that it makes needless; null when there is no room for it. */
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

    private static boolean isCovered(InvalidationEntry entry, InvalidationEntry by) {
        byte[] shorter = by.prefix();
        byte[] longer = entry.prefix();
        return entry.stamp() <= by.stamp()
                && (entry.isSoft() || !by.isSoft())
                && longer.length >= shorter.length
                && Arrays.equals(longer, 0, shorter.length, shorter, 0, shorter.length);
    }

    /** Those of a host; borrowed. */
    InvalidationEntry[] of(long hostHash) {
        int at = Arrays.binarySearch(hosts, hostHash);
        return at < 0 ? new InvalidationEntry[0] : entries[at];
    }

    /** With others in the place of one, which need not be there; they may be more than a purge would add. */
    PrefixStamps replaced(InvalidationEntry entry, List<InvalidationEntry> by) {
        List<InvalidationEntry> list = new ArrayList<>(List.of(of(entry.hash())));
        list.remove(entry);
        list.addAll(by);
        return with(entry.hash(), list);
    }

    /** Without those of a host that one of all the host makes needless. */
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

    /** Without those that wider stamps make needless: hard ones up to one stamp, soft ones up to the higher of both. */
    PrefixStamps above(long hardUpTo, long softUpTo) {
        PrefixStamps left = this;
        for (int at = 0; at < hosts.length; at++) {
            List<InvalidationEntry> list = new ArrayList<>();
            for (InvalidationEntry entry : entries[at]) {
                if (entry.stamp() > (entry.isSoft() ? Math.max(hardUpTo, softUpTo) : hardUpTo)) {
                    list.add(entry);
                }
            }
            if (list.size() < entries[at].length) {
                left = left.with(hosts[at], list);
            }
        }
        return left;
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
