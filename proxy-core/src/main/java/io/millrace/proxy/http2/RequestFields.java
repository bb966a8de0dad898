package io.millrace.proxy.http2;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RecentHost;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetProblem;
import io.millrace.proxy.http.TargetResult;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.forward.UpgradeFields;
import io.millrace.proxy.http2.hpack.HpackDecoder;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.RequestReceiver;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Converts a decoded field block to a request head, or checks trailers (RFC 9113 s8).
 *
 * <p>Stores fields as HTTP/1.1 field lines, because all other code reads this layout. The authority becomes Host, and
 * all cookies are joined into one line. A head returned by this class is a view, valid until the next {@link #begin}.
 * One instance per event loop.
 *
 * <p>Confined to one event loop.
 */
final class RequestFields implements HpackDecoder.Receiver {
    /** Bytes counted for each field in addition to its name and value (RFC 9113 s6.5.2). */
    private static final int FIELD_OVERHEAD = 32;

    /** Limit of the field lines of a plain request; see {@link #isPlain}. */
    private static final int LINES_MAX = 128;

    private static final FieldName[] CONNECTION_FIELDS = {
        FieldName.CONNECTION,
        FieldName.PROXY_CONNECTION,
        FieldName.KEEP_ALIVE,
        FieldName.TRANSFER_ENCODING,
        FieldName.UPGRADE
    };

    private static final long CONNECTION_FIELDS_SET = FieldSection.setOf(CONNECTION_FIELDS);

    /**
     * Requests with one of these fields need an exchange (the object that processes a request). See {@link #isPlain}.
     */
    private static final FieldName[] NOT_PLAIN_FIELDS = {
        FieldName.CONTENT_LENGTH, FieldName.EXPECT, FieldName.TRAILER, FieldName.RANGE
    };

    private static final long NOT_PLAIN_FIELDS_SET = FieldSection.setOf(NOT_PLAIN_FIELDS);

    /** Bytes allowed in a field name: lower-case letters, digits and the other token bytes. */
    private static final boolean[] NAME_BYTES = new boolean[256];

    static {
        for (int c = 0; c < 128; c++) {
            NAME_BYTES[c] = FieldLexer.isTokenByte((byte) c) && !(c >= 'A' && c <= 'Z');
        }
    }

    // Indices of the pseudo-fields of requests.
    private static final int UNKNOWN = -1;
    private static final int METHOD = 0;
    private static final int SCHEME = 1;
    private static final int AUTHORITY = 2;
    private static final int PATH = 3;
    private static final int PROTOCOL = 4;
    private static final int PSEUDO_FIELDS = 5;

    private static final byte[] HOST_LINE = "host: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] COOKIE_LINE = "cookie: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] COOKIE = "cookie".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CONNECTION_LINE = "connection: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] UPGRADE = "upgrade".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] UPGRADE_LINE = "upgrade: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] WEBSOCKET = UpgradeFields.WEBSOCKET.getBytes(StandardCharsets.US_ASCII);
    private static final byte[] KEY_LINE = "sec-websocket-key: ".getBytes(StandardCharsets.US_ASCII);
    private static final FieldName WEBSOCKET_KEY = FieldName.of("Sec-WebSocket-Key");
    private static final byte[] HOST = "host".getBytes(StandardCharsets.US_ASCII);

    private final RecentHost httpHost = new RecentHost(false);
    private final RecentHost httpsHost = new RecentHost(true);
    private final FieldSection fields = FieldSection.reusable(32);
    /** The fields of the block as HTTP/1.1 field lines. Grows if needed. */
    private byte[] lines = new byte[4096];
    /** Number of bytes used in {@link #lines}. */
    private int length;
    /** The values of the pseudo-fields, one after the other. Grows if needed. */
    private byte[] pseudo = new byte[1024];

    private int pseudoLength;
    private final int[] pseudoStart = new int[PSEUDO_FIELDS];
    private final int[] pseudoEnd = new int[PSEUDO_FIELDS];
    private byte[] cookies = new byte[1024];
    private int cookiesLength;
    /** The buffer for text that the HPACK decoder decodes. */
    private byte[] text = new byte[4096];

    /** Size of the fields received so far, counted as in RFC 9113 s6.5.2. */
    private int listBytes;

    private int listBytesMax;
    private boolean trailers;
    /** True once the block has contained a field that is not a pseudo-field. */
    private boolean regularSeen;

    private boolean tooLarge;
    private @Nullable String malformed;
    private @Nullable BadRequest refused;
    /** See {@link #isPlain}. */
    private boolean plain;
    /** True if the request is an extended CONNECT (RFC 8441). */
    private boolean extended;

    /**
     * Begins the next field block.
     *
     * @param bytesMax limit of the field section, with 32 bytes added for each field (RFC 9113 s6.5.2)
     * @param ofTrailers whether the block is a trailer section
     */
    void begin(int bytesMax, boolean ofTrailers) {
        fields.reset(lines);
        length = 0;
        pseudoLength = 0;
        Arrays.fill(pseudoStart, -1);
        cookiesLength = 0;
        listBytes = 0;
        listBytesMax = bytesMax;
        trailers = ofTrailers;
        regularSeen = false;
        tooLarge = false;
        malformed = null;
        refused = null;
        plain = false;
        extended = false;
    }

    @Override
    public byte[] text(int size) {
        if (text.length < size) {
            text = new byte[Math.max(size, 2 * text.length)];
        }
        return text;
    }

    @Override
    public void add(byte[] name, int nameStart, int nameLength, byte[] value, int valueStart, int valueLength) {
        listBytes += nameLength + valueLength + FIELD_OVERHEAD;
        if (listBytes > listBytesMax) {
            // Stops counting: a long block could overflow the sum.
            listBytes = listBytesMax + 1;
            tooLarge = true;
        }
        if (tooLarge || malformed != null) {
            return;
        }
        if (!isValue(value, valueStart, valueLength)) {
            malformed = "an invalid byte in a field value";
        } else if (nameLength > 0 && name[nameStart] == ':') {
            addPseudo(name, nameStart, nameLength, value, valueStart, valueLength);
        } else if (!isName(name, nameStart, nameLength)) {
            malformed = "an upper-case or invalid byte in a field name";
        } else {
            addRegular(name, nameStart, nameLength, value, valueStart, valueLength);
        }
    }

    private void addPseudo(byte[] name, int nameStart, int nameLength, byte[] value, int valueStart, int valueLength) {
        int pseudoField = pseudo(name, nameStart, nameLength);
        if (pseudoField == UNKNOWN || regularSeen || trailers) {
            malformed = "a pseudo-field is unknown, in trailers, or after a regular field";
        } else if (pseudoStart[pseudoField] >= 0) {
            malformed = "a repeated pseudo-field";
        } else {
            if (pseudoLength + valueLength > pseudo.length) {
                pseudo = Arrays.copyOf(pseudo, Math.max(2 * pseudo.length, pseudoLength + valueLength));
            }
            System.arraycopy(value, valueStart, pseudo, pseudoLength, valueLength);
            pseudoStart[pseudoField] = pseudoLength;
            pseudoLength += valueLength;
            pseudoEnd[pseudoField] = pseudoLength;
        }
    }

    private static int pseudo(byte[] name, int start, int length) {
        int end = start + length;
        return switch (length) {
            case 5 -> FieldLexer.equals(name, start, end, ":path") ? PATH : UNKNOWN;
            case 7 -> {
                if (FieldLexer.equals(name, start, end, ":method")) {
                    yield METHOD;
                }
                yield FieldLexer.equals(name, start, end, ":scheme") ? SCHEME : UNKNOWN;
            }
            case 9 -> FieldLexer.equals(name, start, end, ":protocol") ? PROTOCOL : UNKNOWN;
            case 10 -> FieldLexer.equals(name, start, end, ":authority") ? AUTHORITY : UNKNOWN;
            default -> UNKNOWN;
        };
    }

    private void addRegular(byte[] name, int nameStart, int nameLength, byte[] value, int valueStart, int valueLength) {
        if (!regularSeen) {
            regularSeen = true;
            addHost();
        }
        if (equals(COOKIE, name, nameStart, nameLength)) {
            addCookie(value, valueStart, valueLength);
        } else if (has(AUTHORITY) && equals(HOST, name, nameStart, nameLength)) {
            if (!isAuthority(value, valueStart, valueLength)) {
                malformed = "Host differs from :authority";
            }
        } else {
            ensure(nameLength + valueLength + 4);
            int at = length;
            System.arraycopy(name, nameStart, lines, at, nameLength);
            int nameEnd = at + nameLength;
            lines[nameEnd] = ':';
            lines[nameEnd + 1] = ' ';
            System.arraycopy(value, valueStart, lines, nameEnd + 2, valueLength);
            endLine(at, nameEnd, nameEnd + 2 + valueLength);
        }
    }

    private static boolean equals(byte[] expected, byte[] name, int start, int nameLength) {
        return nameLength == expected.length
                && Arrays.equals(expected, 0, expected.length, name, start, start + nameLength);
    }

    private void addHost() {
        if (has(AUTHORITY)) {
            int start = start(AUTHORITY);
            addLine(HOST_LINE, pseudo, start, end(AUTHORITY) - start);
        }
    }

    private void addLine(byte[] lineStart, byte[] value, int valueStart, int valueLength) {
        ensure(lineStart.length + valueLength + 2);
        int at = length;
        System.arraycopy(lineStart, 0, lines, at, lineStart.length);
        System.arraycopy(value, valueStart, lines, at + lineStart.length, valueLength);
        endLine(at, at + lineStart.length - 2, at + lineStart.length + valueLength);
    }

    private void endLine(int nameStart, int nameEnd, int valueEnd) {
        lines[valueEnd] = '\r';
        lines[valueEnd + 1] = '\n';
        fields.addLine(nameStart, nameEnd, nameEnd + 2, valueEnd);
        length = valueEnd + 2;
    }

    /**
     * Joins cookies into one line. HTTP/2 clients may split them for better compression (RFC 9113 s8.2.3). Omits
     * empty cookies: at the end of the line they would leave a space, which HTTP/2 origins refuse.
     */
    private void addCookie(byte[] value, int valueStart, int valueLength) {
        if (valueLength == 0) {
            return;
        }
        if (cookiesLength + valueLength + 2 > cookies.length) {
            cookies = Arrays.copyOf(cookies, Math.max(2 * cookies.length, cookiesLength + valueLength + 2));
        }
        if (cookiesLength > 0) {
            cookies[cookiesLength++] = ';';
            cookies[cookiesLength++] = ' ';
        }
        System.arraycopy(value, valueStart, cookies, cookiesLength, valueLength);
        cookiesLength += valueLength;
    }

    private boolean isAuthority(byte[] value, int valueStart, int valueLength) {
        int start = start(AUTHORITY);
        int authorityLength = end(AUTHORITY) - start;
        if (authorityLength != valueLength) {
            return false;
        }
        for (int i = 0; i < valueLength; i++) {
            if (FieldLexer.lower(value[valueStart + i] & 0xff) != FieldLexer.lower(pseudo[start + i] & 0xff)) {
                return false;
            }
        }
        return true;
    }

    private void ensure(int more) {
        if (length + more > lines.length) {
            byte[] larger = Arrays.copyOf(lines, Math.max(2 * lines.length, length + more));
            lines = larger;
            fields.moveTo(larger);
        }
    }

    private static boolean isName(byte[] name, int start, int length) {
        for (int i = start; i < start + length; i++) {
            if (!NAME_BYTES[name[i] & 0xff]) {
                return false;
            }
        }
        return length > 0;
    }

    /**
     * Returns true if a field value is valid (RFC 9113 s8.2.1). It must not contain CR, LF or NUL, or begin or end
     * with white space.
     */
    private static boolean isValue(byte[] value, int start, int length) {
        for (int i = start; i < start + length; i++) {
            byte b = value[i];
            if (b == '\r' || b == '\n' || b == 0) {
                return false;
            }
        }
        return length == 0 || !(FieldLexer.isSpace(value[start]) || FieldLexer.isSpace(value[start + length - 1]));
    }

    private boolean has(int pseudoField) {
        return pseudoStart[pseudoField] >= 0;
    }

    private int start(int pseudoField) {
        return pseudoStart[pseudoField];
    }

    private int end(int pseudoField) {
        return pseudoEnd[pseudoField];
    }

    /** Returns true if the section exceeds the limit. Fields beyond the limit are not stored. */
    boolean isTooLarge() {
        return tooLarge;
    }

    /** The first fault of the block; null if the block is well-formed so far. */
    @Nullable
    String malformed() {
        return malformed;
    }

    /** The reason to refuse a well-formed request with an error; null for none. Call after {@link #head}. */
    @Nullable
    BadRequest refused() {
        return refused;
    }

    /**
     * Returns true if the fast lane may answer the request, without an exchange object. This is a GET or HEAD without
     * content, Range or Expect. Call after {@link #head}.
     */
    boolean isPlain() {
        return plain;
    }

    /**
     * Returns the head of the request.
     *
     * @param secure whether the connection uses TLS
     * @return null if the request is malformed or refused; see {@link #malformed} and {@link #refused}
     */
    @Nullable
    RequestHead head(boolean secure) {
        if (!regularSeen) {
            addHost();
        }
        if (cookiesLength > 0) {
            addLine(COOKIE_LINE, cookies, 0, cookiesLength);
        }
        if (malformed == null) {
            malformed = problem();
        }
        if (malformed != null) {
            return null;
        }
        int from = start(METHOD);
        int to = end(METHOD);
        if (extended && !FieldLexer.equalsIgnoreCase(pseudo, start(PROTOCOL), end(PROTOCOL), UpgradeFields.WEBSOCKET)) {
            refused = BadRequest.TUNNEL;
            return null;
        }
        if (extended) {
            addHandshake();
        }
        Method method = extended ? Method.GET : methodOf(from, to);
        TargetResult target = target(method, secure);
        if (!(target instanceof TargetUri uri)) {
            refused = isHostProblem((TargetProblem) target) ? BadRequest.HOST : BadRequest.TARGET;
            return null;
        }
        plain = !extended
                && (method == Method.GET || method == Method.HEAD)
                && fields.size() <= LINES_MAX
                && !(fields.mayContainAny(NOT_PLAIN_FIELDS_SET) && containsAny(NOT_PLAIN_FIELDS));
        return method == Method.OTHER
                ? RequestHead.ofHttp2(new String(pseudo, from, to - from, StandardCharsets.US_ASCII), uri, fields)
                : RequestHead.ofHttp2(method, uri, fields);
    }

    /**
     * Returns true if the request opens a WebSocket (RFC 8441). Then the head is converted to an HTTP/1.1 handshake.
     */
    boolean isExtendedConnect() {
        return extended;
    }

    /** Adds the lines of a WebSocket handshake (RFC 6455), with a key generated by this proxy. */
    private void addHandshake() {
        byte[] nonce = new byte[16];
        ThreadLocalRandom.current().nextBytes(nonce);
        byte[] key = Base64.getEncoder().encode(nonce);
        addLine(CONNECTION_LINE, UPGRADE, 0, UPGRADE.length);
        addLine(UPGRADE_LINE, WEBSOCKET, 0, WEBSOCKET.length);
        addLine(KEY_LINE, key, 0, key.length);
    }

    private Method methodOf(int from, int to) {
        // The two most frequent methods need no string.
        if (FieldLexer.equals(pseudo, from, to, "GET")) {
            return Method.GET;
        }
        return FieldLexer.equals(pseudo, from, to, "HEAD")
                ? Method.HEAD
                : Method.of(new String(pseudo, from, to - from, StandardCharsets.US_ASCII));
    }

    private @Nullable String problem() {
        boolean hasMethod = has(METHOD) && FieldLexer.isToken(pseudo, start(METHOD), end(METHOD));
        if (!hasMethod) {
            return "missing or invalid :method";
        }
        if (has(PROTOCOL)) {
            return extendedConnectProblem();
        }
        if (isConnect()) {
            return has(SCHEME) || has(PATH) || !has(AUTHORITY)
                    ? "CONNECT with :scheme or :path, or without :authority"
                    : fieldProblem();
        }
        if (!has(SCHEME) || !has(PATH) || start(PATH) == end(PATH)) {
            return "no :scheme or no :path";
        }
        byte first = pseudo[start(PATH)];
        if (first != '/' && first != '*') {
            return "invalid :path";
        }
        return fieldProblem();
    }

    /** Returns the fault of an extended CONNECT request (RFC 8441 s4); null for none. */
    private @Nullable String extendedConnectProblem() {
        if (!isConnect() || !has(SCHEME) || !has(AUTHORITY) || !has(PATH) || start(PATH) == end(PATH)) {
            return ":protocol without CONNECT, :scheme, :authority and :path";
        }
        if (pseudo[start(PATH)] != '/') {
            return "invalid :path";
        }
        if (fields.contains(WEBSOCKET_KEY) || fields.contains(FieldName.CONTENT_LENGTH)) {
            return "extended CONNECT with a field of the HTTP/1.1 handshake, or with Content-Length";
        }
        extended = true;
        return fieldProblem();
    }

    private boolean isConnect() {
        return FieldLexer.equals(pseudo, start(METHOD), end(METHOD), "CONNECT");
    }

    private @Nullable String fieldProblem() {
        if (fields.mayContainAny(CONNECTION_FIELDS_SET) && containsAny(CONNECTION_FIELDS)) {
            return "a connection-specific field";
        }
        int te = fields.find(FieldName.TE);
        if (te >= 0 && (!fields.valueEqualsIgnoreCase(te, "trailers") || fields.next(FieldName.TE, te) >= 0)) {
            return "TE other than trailers";
        }
        int contentLength = fields.find(FieldName.CONTENT_LENGTH);
        if (contentLength >= 0
                && (contentLength(contentLength) < 0 || fields.next(FieldName.CONTENT_LENGTH, contentLength) >= 0)) {
            return "invalid or repeated Content-Length";
        }
        return null;
    }

    private boolean containsAny(FieldName[] names) {
        for (FieldName name : names) {
            if (fields.contains(name)) {
                return true;
            }
        }
        return false;
    }

    private long contentLength(int line) {
        int from = fields.valueStart(line);
        int to = fields.valueEnd(line);
        return to - from > 18 ? -1 : FieldLexer.number(fields.bytes(), from, to);
    }

    /** Returns the Content-Length of the request; {@link RequestReceiver#CHUNKED} if absent. */
    long contentLength() {
        int line = fields.find(FieldName.CONTENT_LENGTH);
        return line < 0 ? RequestReceiver.CHUNKED : contentLength(line);
    }

    private TargetResult target(Method method, boolean secure) {
        if (method == Method.CONNECT) {
            return TargetUri.parse(method, pseudo, start(AUTHORITY), end(AUTHORITY), fields, 1, secure);
        }
        int from = start(PATH);
        int to = end(PATH);
        boolean sameScheme = FieldLexer.equalsIgnoreCase(pseudo, start(SCHEME), end(SCHEME), secure ? "https" : "http");
        if (sameScheme) {
            return TargetUri.parse(method, pseudo, from, to, fields, 1, secure ? httpsHost : httpHost);
        }
        return otherScheme(method, from, to, secure);
    }

    /** Handles a scheme that differs from the connection's, as in an absolute-form target of HTTP/1.1. */
    private TargetResult otherScheme(Method method, int pathFrom, int pathTo, boolean secure) {
        int from = start(SCHEME);
        int to = end(SCHEME);
        if (!FieldLexer.equalsIgnoreCase(pseudo, from, to, secure ? "http" : "https")) {
            return TargetProblem.SCHEME;
        }
        if (pseudo[pathFrom] != '/') {
            // An asterisk directly after the authority would become part of the host.
            return TargetProblem.FORM;
        }
        int host = fields.find(FieldName.HOST);
        if (host < 0) {
            return TargetProblem.HOST_MISSING;
        }
        String absolute = (secure ? "http" : "https")
                + "://"
                + fields.value(host)
                + new String(pseudo, pathFrom, pathTo - pathFrom, StandardCharsets.ISO_8859_1);
        return TargetUri.parse(method, absolute, fields, 1, secure);
    }

    /** Returns a copy of the head with its own bytes. */
    RequestHead withOwnBytes(RequestHead view) {
        FieldSection copy = fields.over(Arrays.copyOf(lines, length), 0, 0, length);
        return view.method() == Method.OTHER
                ? RequestHead.ofHttp2(view.methodName(), view.target(), copy)
                : RequestHead.ofHttp2(view.method(), view.target(), copy);
    }

    private static boolean isHostProblem(TargetProblem problem) {
        return switch (problem) {
            case HOST_MISSING, HOST_REPEATED, HOST, PORT -> true;
            case FORM, SCHEME, BYTE, USERINFO -> false;
        };
    }
}
