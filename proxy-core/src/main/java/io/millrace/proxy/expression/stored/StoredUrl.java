package io.millrace.proxy.expression.stored;

import java.nio.charset.StandardCharsets;

/**
 * The URL of a cache key and its parts.
 *
 * <p>Immutable.
 *
 * @param text scheme, host, path and query
 * @param hostStart where the host begins in the text
 * @param pathStart where the path begins, behind host and port
 * @param queryStart where the query's question mark is; the length of the text where there is none
 */
public record StoredUrl(String text, int hostStart, int pathStart, int queryStart) {
    /** Of a key: the additions of a rule follow a space, and a variant follows a NUL. */
    public static StoredUrl ofKey(byte[] key) {
        int length = 0;
        while (length < key.length && key[length] != 0 && key[length] != ' ') {
            length++;
        }
        return of(new String(key, 0, length, StandardCharsets.ISO_8859_1));
    }

    /** Of an absolute URL. */
    public static StoredUrl of(String text) {
        int separator = text.indexOf("://");
        int hostStart = separator < 0 ? 0 : separator + 3;
        int pathStart = hostStart;
        while (pathStart < text.length() && "/?".indexOf(text.charAt(pathStart)) < 0) {
            pathStart++;
        }
        int query = text.indexOf('?', pathStart);
        return new StoredUrl(text, hostStart, pathStart, query < 0 ? text.length() : query);
    }

    public String scheme() {
        return text.substring(0, Math.max(0, hostStart - 3));
    }

    /** The host, with its port unless that is the usual one of the scheme. */
    public String host() {
        return text.substring(hostStart, pathStart);
    }

    /** The path without the query. */
    public String path() {
        return text.substring(pathStart, queryStart);
    }

    /** The query without its question mark; empty where there is none. */
    public String query() {
        return text.substring(Math.min(text.length(), queryStart + 1));
    }
}
