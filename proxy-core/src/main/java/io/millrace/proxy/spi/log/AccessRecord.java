package io.millrace.proxy.spi.log;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The record of a finished request: a view over the bytes of the access log. Texts are created when a method returns
 * them.
 *
 * <p>Valid until the next call of {@link AccessRecords#next}, and at most during the call of
 * {@link AccessLogSink#records}, on its thread.
 */
public interface AccessRecord {
    /** The arrival of the first byte of the request, in epoch milliseconds. */
    long receivedAtMillis();

    /** The time from the first byte of the request to the last byte of the response, in nanoseconds. */
    long durationNanos();

    /** The time to the first byte of the response, in nanoseconds; 0 if it was not measured. */
    long firstByteNanos();

    /** The status that was sent to the client; 0 for none. */
    int status();

    /** The status of the origin's response; 0 if there was none. */
    int originStatus();

    /** The bytes of the response's head. */
    long headBytes();

    /** The bytes of the response's content. */
    long bodyBytes();

    /** The bytes that the client sent in a tunnel. */
    long receivedBytes();

    /** {@code http/1.0}, {@code http/1.1} or {@code http/2}; null if unknown. */
    @Nullable
    String protocol();

    /** The cache result as in metrics, such as {@code hit}, {@code uri-miss} or {@code stale}. */
    String cacheResult();

    /** The result code of the format squid, such as {@code TCP_HIT}. */
    String resultCode();

    /** Returns true if the stored response was read from RAM. */
    boolean isFromRam();

    /** Returns true if the response came from the fetch of another request. */
    boolean isCollapsed();

    /** Returns true if the client's connection had TLS. */
    boolean isSecure();

    /** The address of the client; null if it is unknown or the client used a Unix socket. */
    @Nullable
    InetAddress clientAddress();

    /** The number N of a sampled log, which contains one of every N requests; 1 for all requests. */
    int sampleRate();

    /** Returns a text, one character for each byte; null if it is absent. */
    @Nullable
    String text(AccessText text);

    /** Returns the bytes of a text, read-only; null if it is absent. Valid as long as this record. */
    @Nullable
    ByteBuffer bytes(AccessText text);

    /** Returns true if a text was longer than the record permits. */
    boolean isTruncated(AccessText text);
}
