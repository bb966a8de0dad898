package io.millrace.proxy.purge;

import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;

/**
 * Hashes of hosts and URLs. They are the keys of the tables of purges by host, path prefix and URL. These tables
 * contain the stamp of each purge (a number that increases with each purge). The journal contains these hashes, so the
 * algorithm must not change. Stateless.
 */
final class ScopeHash {
    private ScopeHash() {}

    /** Returns the hash of a URL's host, with a port other than the default. It is the same for http and https. */
    static long hostHash(TargetUri url) {
        long hash = 0xCBF2_9CE4_8422_2325L;
        for (byte b : url.hostBytes()) {
            hash = (hash ^ (b & 0xff)) * 0x100_0000_01B3L;
        }
        if (!url.isDefaultPort()) {
            hash = (hash ^ (0x10000 | url.port())) * 0x100_0000_01B3L;
        }
        hash = (hash ^ (hash >>> 32)) * 0xD6E8_FEB8_6659_FD93L;
        return hash ^ (hash >>> 32);
    }

    /** Returns the hash of a URL in the normal form of cache keys. It is the same for http and https. */
    static long urlHash(TargetUri url) {
        byte[] bytes = url.targetBytes();
        int from = url.pathStart();
        int end = url.queryEnd();
        if (UriBytes.hasEncodingsToNormalize(bytes, from, url.pathEnd())) {
            bytes = PrefixStamps.normal(url);
            from = 0;
            end = bytes.length;
        }
        long hash = hostHash(url);
        for (int at = from; at < end; at++) {
            hash = (hash ^ (bytes[at] & 0xff)) * 0x100_0000_01B3L;
        }
        hash = (hash ^ (hash >>> 32)) * 0xD6E8_FEB8_6659_FD93L;
        return hash ^ (hash >>> 32);
    }
}
