package io.millrace.proxy.expression.stored;

import java.nio.charset.StandardCharsets;

/**
 * The URL in a cache key, and the positions of its parts.
 *
 * <p>Immutable.
 *
 * @param text scheme, host, path and query
 * @param hostStart start of the host in the text
 * @param pathStart start of the path, after host and port
 * @param queryStart position of the question mark before the query; the length of the text if there is no query
 */
public record StoredUrl(String text, int hostStart, int pathStart, int queryStart) {
    /**
     * Returns the URL of a cache key. In a key, a space precedes the parts that rules add, and a NUL precedes the
     * values of the request fields that select a variant.
     */
    public static StoredUrl ofKey(byte[] key) {
        int length = 0;
        while (length < key.length && key[length] != 0 && key[length] != ' ') {
            length++;
        }
        return of(new String(key, 0, length, StandardCharsets.ISO_8859_1));
    }

    /** Returns the parts of an absolute URL. Without {@code ://} the host is empty. */
    public static StoredUrl of(String text) {
        int separator = text.indexOf("://");
        int hostStart = separator < 0 ? 0 : separator + 3;
        int pathStart = hostStart;
        while (separator >= 0 && pathStart < text.length() && "/?".indexOf(text.charAt(pathStart)) < 0) {
            pathStart++;
        }
        int query = text.indexOf('?', pathStart);
        return new StoredUrl(text, hostStart, pathStart, query < 0 ? text.length() : query);
    }

    public String scheme() {
        return text.substring(0, Math.max(0, hostStart - 3));
    }

    /** Returns the host, followed by the port unless it is the default port of the scheme. */
    public String host() {
        return text.substring(hostStart, pathStart);
    }

    /** Returns the path and the query. */
    public String target() {
        return text.substring(pathStart);
    }

    /** Returns the path without the query. */
    public String path() {
        return text.substring(pathStart, queryStart);
    }

    /** Returns the query without its question mark; empty if there is none. */
    public String query() {
        return text.substring(Math.min(text.length(), queryStart + 1));
    }
}
