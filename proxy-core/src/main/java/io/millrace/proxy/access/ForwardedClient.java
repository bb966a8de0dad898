package io.millrace.proxy.access;

import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.ListCursor;
import io.netty.util.NetUtil;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The client that trusted proxies give in X-Forwarded-For. Immutable. */
final class ForwardedClient {
    /** The address 0.0.0.0, which stands for peers of Unix sockets. Therefore it is not accepted in a field. */
    private static final IpAddress UNIX_PEER = IpAddress.of(new byte[Integer.BYTES]);

    private final AddressSet trusted;

    ForwardedClient(AddressSet trusted) {
        this.trusted = trusted;
    }

    /**
     * Returns the last address in the field that is not a trusted proxy. The addresses before it were supplied by that
     * client and are not reliable. Returns the first address if all are trusted. Returns the peer if the field is
     * absent or the peer is not trusted.
     *
     * @param peer address of the sender, null if unknown
     * @return null if the selected member is not an address, or is 0.0.0.0
     */
    @Nullable
    IpAddress of(FieldSection fields, @Nullable IpAddress peer) {
        if (!trusted.contains(peer) || !fields.contains(FieldName.X_FORWARDED_FOR)) {
            return peer;
        }
        IpAddress client = peer;
        boolean first = true;
        ListCursor members = ListCursor.over(fields, FieldName.X_FORWARDED_FOR);
        while (members.next()) {
            IpAddress address = parse(new String(
                    members.bytes(), members.start(), members.end() - members.start(), StandardCharsets.ISO_8859_1));
            if (first || !trusted.contains(address)) {
                client = address;
            }
            first = false;
        }
        return client;
    }

    /** Parses an address with or without a port. An IPv6 address with a port is in brackets. */
    static @Nullable IpAddress parse(String text) {
        String address = text;
        int colon = text.indexOf(':');
        if (text.startsWith("[")) {
            int end = text.indexOf(']');
            address = end < 0 ? text : text.substring(1, end);
        } else if (colon >= 0 && colon == text.lastIndexOf(':')) {
            address = text.substring(0, colon);
        }
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(address);
        IpAddress parsed = bytes == null ? null : IpAddress.of(bytes);
        return parsed != null && parsed.equals(UNIX_PEER) ? null : parsed;
    }
}
