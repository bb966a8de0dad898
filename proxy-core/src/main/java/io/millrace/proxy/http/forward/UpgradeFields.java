package io.millrace.proxy.http.forward;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the Upgrade field of a head (RFC 9110 s7.8). It is valid only in HTTP/1.1, and only if Connection lists it.
 *
 * <p>Thread-safe: no state.
 */
public final class UpgradeFields {
    /** The protocol name of WebSocket (RFC 6455). */
    public static final String WEBSOCKET = "websocket";

    private UpgradeFields() {}

    /** Returns true if the head requests another protocol, or switches to one. */
    public static boolean isIn(FieldSection fields, int minorVersion) {
        return fields.contains(FieldName.UPGRADE)
                && minorVersion > 0
                && fields.hasToken(FieldName.CONNECTION, "upgrade");
    }

    /**
     * Returns the protocols of the head's Upgrade field that are allowed, in their order.
     *
     * @param allowed names in lower case, without versions: {@code foo} also allows {@code foo/2}
     * @return the value of an Upgrade field; null for none
     */
    public static @Nullable String allowed(FieldSection fields, List<String> allowed) {
        StringBuilder value = null;
        ListCursor offered = ListCursor.over(fields, FieldName.UPGRADE);
        while (offered.next()) {
            if (isAllowed(offered, allowed)) {
                value = value == null ? new StringBuilder() : value.append(", ");
                for (int i = offered.start(); i < offered.end(); i++) {
                    value.append((char) (offered.bytes()[i] & 0xff));
                }
            }
        }
        return value == null ? null : value.toString();
    }

    private static boolean isAllowed(ListCursor offered, List<String> allowed) {
        byte[] bytes = offered.bytes();
        int nameEnd = offered.start();
        while (nameEnd < offered.end() && bytes[nameEnd] != '/') {
            nameEnd++;
        }
        for (String name : allowed) {
            if (FieldLexer.equalsIgnoreCase(bytes, offered.start(), nameEnd, name)) {
                return isProtocol(bytes, offered.start(), nameEnd, offered.end());
            }
        }
        return false;
    }

    /** Returns true if the range is a protocol: a name token, optionally with a slash and a version token. */
    private static boolean isProtocol(byte[] bytes, int start, int nameEnd, int end) {
        return FieldLexer.isToken(bytes, start, nameEnd)
                && (nameEnd == end || FieldLexer.isToken(bytes, nameEnd + 1, end));
    }

    /**
     * Returns the protocol that a 101 response switches to.
     *
     * @param offered the value of the request's Upgrade field
     * @return null if the response names no protocol, several, or one that was not offered
     */
    public static @Nullable String chosen(FieldSection fields, String offered) {
        ListCursor named = ListCursor.over(fields, FieldName.UPGRADE);
        if (!named.next()) {
            return null;
        }
        String found = null;
        for (String protocol : offered.split(", ", -1)) {
            if (named.isToken(protocol)) {
                found = protocol;
            }
        }
        return named.next() ? null : found;
    }
}
