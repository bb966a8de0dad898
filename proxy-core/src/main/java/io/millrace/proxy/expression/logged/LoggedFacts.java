package io.millrace.proxy.expression.logged;

import io.millrace.proxy.expression.stored.StoredUrl;
import org.jspecify.annotations.Nullable;

/**
 * The values of expression fields for one finished request. Null or a negative number means that there is no value. 0
 * also means this where the method's comment says so. Confined to one thread.
 */
public interface LoggedFacts {
    /** Returns the URL that the client asked for, before remapping; null if there was no valid request. */
    @Nullable
    StoredUrl url();

    /** Returns the method. */
    @Nullable
    String method();

    /** Returns the status sent to the client; 0 if none was sent. */
    int status();

    /** Returns the status of the origin's response; 0 if there was none. */
    int originStatus();

    /** Returns the cache result, such as {@code hit}. */
    String cache();

    /** Returns the result code of the {@code squid} format, such as {@code TCP_MISS}. */
    String result();

    /** Returns the client's address in the format of RFC 5952. */
    @Nullable
    String client();

    /** Returns the bytes of the response's head and body that were sent to the client. */
    long bytes();

    /** Returns the bytes of the response's body that were sent to the client. */
    long bodyBytes();

    /** Returns the time from the first byte of the request to the last byte of the response, in nanoseconds. */
    long durationNanos();

    /**
     * Returns the time from the request's first byte to the response's first byte, in nanoseconds. 0 means that it was
     * not measured.
     */
    long firstByteNanos();

    /** Returns the protocol of the request, such as {@code HTTP/1.1}. */
    @Nullable
    String protocol();

    /** Returns the protocol of the origin's response. */
    @Nullable
    String originProtocol();

    /** Returns the origin's host if a request was sent to an origin. */
    @Nullable
    String origin();

    /** Returns the Content-Type of the response. */
    @Nullable
    String contentType();

    /** Returns the TLS version of the client's connection, such as {@code TLSv1.3}. */
    @Nullable
    String tls();

    /** Returns the server name in the client's TLS hello. */
    @Nullable
    String serverName();

    /** Returns the Referer field of the request. */
    @Nullable
    String referer();

    /** Returns the User-Agent field of the request. */
    @Nullable
    String userAgent();

    /** Returns the id of the request's trace, 32 hexadecimal digits; null while traces are off. */
    @Nullable
    String traceId();

    /** Returns the reason for the outcome, as in the parameter {@code detail} of Cache-Status. */
    @Nullable
    String detail();
}
