package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * The head of a response on its way to the client: status, end-to-end fields as they were received or stored, and the few
 * fields that differ from answer to answer. Nothing in it is particular to one version of HTTP: framing and connection fields
 * belong to the lane that sends it.
 *
 * <p>Mutable and reusable: one per event loop is enough, since {@code ClientStream.writeHead} reads it before it returns.
 * Confined to one event loop.
 */
public final class OutboundHead {
    /** The content length of a response whose end is not known yet. */
    public static final long LENGTH_UNKNOWN = -1;

    private int status;
    private String reason = "";
    private FieldSection fields = FieldSection.EMPTY;
    private byte @Nullable [] wire;
    private boolean lengthInWire;
    private long contentLength = LENGTH_UNKNOWN;
    private boolean contentForbidden;
    private long ageSeconds = -1;
    private @Nullable AsciiString via;
    private final ByteBuf cacheStatus = Unpooled.buffer(128);
    private final FieldSection.Builder ownFields = FieldSection.builder();
    private @Nullable AsciiString contentRange;
    private @Nullable AsciiString strictTransportSecurity;
    private boolean close;

    /** Begins a new head; everything set before is forgotten. */
    public OutboundHead reset(int newStatus, String newReason, FieldSection newFields) {
        status = newStatus;
        reason = newReason;
        fields = newFields;
        wire = null;
        lengthInWire = false;
        contentLength = LENGTH_UNKNOWN;
        contentForbidden = false;
        ageSeconds = -1;
        via = null;
        cacheStatus.clear();
        contentRange = null;
        strictTransportSecurity = null;
        close = false;
        return this;
    }

    /**
     * Begins a new head from one that is ready for HTTP/1.1: status line and field lines, each with its CRLF, without the empty
     * line.
     *
     * @param bytes borrowed, and never to be changed
     * @param hasContentLength whether a Content-Length line is among them
     */
    public OutboundHead resetWire(int newStatus, byte[] bytes, boolean hasContentLength) {
        reset(newStatus, "", FieldSection.EMPTY);
        wire = bytes;
        lengthInWire = hasContentLength;
        return this;
    }

    /** A builder without lines for this head's fields, which are good until it is asked for again. */
    public FieldSection.Builder ownFields() {
        return ownFields.clear();
    }

    /** Bytes of content that follow, or {@link #LENGTH_UNKNOWN}. */
    public OutboundHead contentLength(long length) {
        contentLength = length;
        return this;
    }

    /** No content follows whatever the length says: an answer to HEAD, or a 304 (RFC 9110 s6.4.1). */
    public OutboundHead withoutContent() {
        contentForbidden = true;
        return this;
    }

    /** The Age field's value, or -1 for none (RFC 9111 s5.1). */
    public OutboundHead ageSeconds(long seconds) {
        ageSeconds = seconds;
        return this;
    }

    /** The Via field's value that this proxy adds (RFC 9110 s7.6.3). */
    public OutboundHead via(@Nullable AsciiString value) {
        via = value;
        return this;
    }

    /** The Content-Range field's value of a 206 or 416. */
    public OutboundHead contentRange(@Nullable AsciiString value) {
        contentRange = value;
        return this;
    }

    /** The Strict-Transport-Security field's value, for a head that has none (RFC 6797). */
    public OutboundHead strictTransportSecurity(AsciiString value) {
        strictTransportSecurity = value;
        return this;
    }

    /** Whether a field is among those that were received or stored. */
    public boolean has(FieldName name) {
        return wire == null ? fields.contains(name) : name.isLineOf(wire);
    }

    /** No further request is wanted on what carries this response. */
    public OutboundHead close() {
        close = true;
        return this;
    }

    /** The buffer that takes the Cache-Status field's value (RFC 9211); empty means no such field. Owned by this head. */
    public ByteBuf cacheStatus() {
        return cacheStatus;
    }

    /** The status code. */
    public int status() {
        return status;
    }

    /** The reason phrase. */
    public String reason() {
        return reason;
    }

    /** The end-to-end fields, without Content-Length, Age and hop-by-hop fields. */
    public FieldSection fields() {
        return fields;
    }

    /** The head ready for HTTP/1.1, or null when status, reason and fields make it; borrowed. */
    public byte @Nullable [] wire() {
        return wire;
    }

    /** Whether {@link #wire} has a Content-Length line. */
    public boolean isLengthInWire() {
        return lengthInWire;
    }

    /** See {@link #contentLength(long)}. */
    public long contentLength() {
        return contentLength;
    }

    /** See {@link #withoutContent()}. */
    public boolean isContentForbidden() {
        return contentForbidden;
    }

    /** See {@link #ageSeconds(long)}. */
    public long ageSeconds() {
        return ageSeconds;
    }

    /** See {@link #via(AsciiString)}. */
    public @Nullable AsciiString via() {
        return via;
    }

    /** See {@link #contentRange(AsciiString)}. */
    public @Nullable AsciiString contentRange() {
        return contentRange;
    }

    /** See {@link #strictTransportSecurity(AsciiString)}. */
    public @Nullable AsciiString strictTransportSecurity() {
        return strictTransportSecurity;
    }

    /** See {@link #close()}. */
    public boolean isClose() {
        return close;
    }
}
