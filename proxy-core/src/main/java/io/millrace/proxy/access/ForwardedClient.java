package io.millrace.proxy.access;

import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.ListCursor;
import io.netty.util.NetUtil;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The client that trusted proxies name in X-Forwarded-For. Immutable. */
final class ForwardedClient {
    private final AddressSet trusted;

    ForwardedClient(AddressSet trusted) {
        this.trusted = trusted;
    }

    /**
     * The last address that is no trusted proxy's: what stands before it is that client's own word. Where all are trusted it is the
     * first; without any, or from others than trusted proxies, the peer's own.
     *
     * @param peer who sent the request, null when not known
     * @return null where what stands in that place is no address
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

    /** An address, with a port behind it or without; in brackets where it is IPv6 and has one. */
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
        return bytes == null ? null : IpAddress.of(bytes);
    }
}
