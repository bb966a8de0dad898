package io.millrace.proxy.access;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldSection;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The request fields in which a proxy passes on the client's identity and its original request. An origin that uses
 * them may answer a different request than the one in the cache key. Therefore only the fields of trusted proxies are
 * used, and the fields of other clients are not forwarded. An underscore equals a hyphen, because servers that pass
 * fields as variables (RFC 3875 s4.1.18) do not distinguish them.
 */
final class ForwardingFields {
    /** Beginnings of names: a field is a forwarding field if its name begins with one of them. */
    private static final String[] PREFIXES = {
        // Address, scheme, host, port, path prefix and server of the original request.
        "x-forwarded",
        // The URL or host before a rewrite. Some frameworks route by these fields.
        "x-original-",
        "x-rewrite-",
        // A method or host that replaces the request's own.
        "x-http-method",
        "x-http-host",
        "x-method-override",
        "x-http-destinationurl"
    };

    /** Complete names of forwarding fields. */
    private static final String[] NAMES = {
        "forwarded",
        "x-host",
        "x-backend-host",
        "x-real-ip",
        "x-client-ip",
        "client-ip",
        "true-client-ip",
        "fastly-client-ip",
        "cf-connecting-ip",
        "x-cluster-client-ip",
        "x-proxyuser-ip",
        "x-remote-ip",
        "x-remote-addr",
        "x-originating-ip",
        "x-forwarder-for",
        "x-scheme",
        "x-url-scheme",
        "x-proxy-url",
        "front-end-https",
        "request-uri",
        "base-url",
        // Becomes the variable HTTP_PROXY, which some programs use as their own proxy.
        "proxy"
    };

    /** Fields with the host that the client requested. */
    private static final String[] HOST_PREFIXES = {
        "x-forwarded-host",
        "x-forwarded-server",
        "x-original-host",
        "x-http-host",
        "forwarded",
        "x-host",
        "x-backend-host"
    };

    /** Fields with the path or query that the client requested, or the whole URL. */
    private static final String[] URL_PREFIXES = {
        "x-forwarded-uri",
        "x-forwarded-url",
        "x-forwarded-path",
        "x-forwarded-query",
        "x-original-u",
        "x-original-path",
        "x-original-query",
        "x-original-request",
        "x-rewrite-",
        "x-http-destinationurl",
        "x-proxy-url",
        "request-uri",
        "base-url"
    };

    /** The names by their first letter, so that an ordinary field needs only one or two comparisons. */
    private static final byte[][][] EXACT = byFirstLetter(NAMES);

    private static final byte[][][] BEGINNINGS = byFirstLetter(PREFIXES);
    private static final byte[][][] OF_HOST = byFirstLetter(HOST_PREFIXES);
    private static final byte[][][] OF_URL = byFirstLetter(URL_PREFIXES);

    private ForwardingFields() {}

    /** Returns true if the line is a forwarding field. */
    static boolean contains(FieldSection fields, int line) {
        byte[] bytes = fields.bytes();
        int from = fields.nameStart(line);
        int to = fields.nameEnd(line);
        int slot = slot(FieldLexer.lower(bytes[from]));
        for (byte[] name : EXACT[slot]) {
            if (name.length == to - from && begins(bytes, from, name)) {
                return true;
            }
        }
        return beginsWithAny(BEGINNINGS[slot], bytes, from, to);
    }

    /** Returns true if the line contains the host that the client requested. */
    static boolean containsHost(FieldSection fields, int line) {
        return beginsWithAny(OF_HOST, fields, line);
    }

    /** Returns true if the line contains the path or the query that the client requested. */
    static boolean containsUrl(FieldSection fields, int line) {
        return beginsWithAny(OF_URL, fields, line);
    }

    private static boolean beginsWithAny(byte[][][] table, FieldSection fields, int line) {
        byte[] bytes = fields.bytes();
        int from = fields.nameStart(line);
        return beginsWithAny(table[slot(FieldLexer.lower(bytes[from]))], bytes, from, fields.nameEnd(line));
    }

    private static boolean beginsWithAny(byte[][] prefixes, byte[] bytes, int from, int to) {
        for (byte[] prefix : prefixes) {
            if (prefix.length <= to - from && begins(bytes, from, prefix)) {
                return true;
            }
        }
        return false;
    }

    private static boolean begins(byte[] bytes, int from, byte[] lower) {
        for (int i = 0; i < lower.length; i++) {
            int c = bytes[from + i] == '_' ? '-' : FieldLexer.lower(bytes[from + i]);
            if (c != lower[i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns the number of a letter, in lower or upper case. */
    private static int slot(int c) {
        return c & 0x1f;
    }

    private static byte[][][] byFirstLetter(String[] names) {
        List<List<byte[]>> slots = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            slots.add(new ArrayList<>());
        }
        for (String name : names) {
            slots.get(slot(name.charAt(0))).add(name.toLowerCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII));
        }
        byte[][][] table = new byte[32][][];
        for (int i = 0; i < table.length; i++) {
            table[i] = slots.get(i).toArray(new byte[0][]);
        }
        return table;
    }
}
