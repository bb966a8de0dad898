package io.millrace.proxy.tunnel;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether an origin has really accepted a WebSocket handshake (RFC 6455 s4.2.2). Some origins let a client
 * choose the status of the response. With a chosen 101 and without this check, a client could open a tunnel to the
 * origin and bypass all rules of this proxy.
 *
 * <p>Stateless.
 */
public final class WebSocketAccept {
    private static final FieldName KEY = FieldName.of("Sec-WebSocket-Key");
    private static final FieldName ACCEPT = FieldName.of("Sec-WebSocket-Accept");
    private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    private WebSocketAccept() {}

    /** Returns the problem of the response; null if the response is correct. */
    public static @Nullable String problem(FieldSection request, FieldSection response) {
        int key = request.find(KEY);
        int accept = response.find(ACCEPT);
        if (key < 0 || request.next(KEY, key) >= 0) {
            return "status 101 for a WebSocket request that does not have exactly one Sec-WebSocket-Key";
        }
        if (accept < 0 || response.next(ACCEPT, accept) >= 0) {
            return "status 101 for WebSocket without exactly one Sec-WebSocket-Accept";
        }
        return response.value(accept).equals(of(request.value(key)))
                ? null
                : "status 101 with a Sec-WebSocket-Accept that does not match the key";
    }

    /** Returns the Sec-WebSocket-Accept value for a key. */
    static String of(String key) {
        try {
            MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
            return Base64.getEncoder().encodeToString(sha1.digest((key + GUID).getBytes(StandardCharsets.ISO_8859_1)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-1", e);
        }
    }
}
