package io.millrace.proxy.admin.resource;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * The client of one request and the header fields of the request. Immutable.
 *
 * @param address the client's address; null on the Unix domain socket
 * @param isSecure whether the connection uses TLS
 * @param fields the header fields
 */
public record RequestSender(@Nullable InetAddress address, boolean isSecure, Fields fields) {
    /** A client on the Unix domain socket, without header fields. */
    public static final RequestSender LOCAL = new RequestSender(null, false, name -> null);

    /** Header fields by name. Thread-safe. */
    @FunctionalInterface
    public interface Fields {
        /** The first value of the field; null if it is absent. The case of the name does not matter. */
        @Nullable
        String value(String name);
    }

    /** The first value of a header field; null if it is absent. */
    public @Nullable String field(String name) {
        return fields.value(name);
    }
}
