package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The head of a response to the client: the status, the received or stored end-to-end fields, and the few fields that
 * differ for each response. Independent of the HTTP version: the HTTP/1.1 or HTTP/2 code that sends the head adds
 * framing and connection fields.
 *
 * <p>Mutable and reusable. One instance per event loop is enough, because {@code ClientStream.writeHead} reads it
 * before it returns. Confined to one event loop.
 */
public final class OutboundHead {
    /** The content length of a response whose length is unknown. */
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
    /** The changes that rules make to the fields, in order; the first {@link #editCount} are in use. */
    private FieldEdits[] edits = new FieldEdits[4];

    private int editCount;

    /** Begins a new head. All values set before are cleared. */
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
        editCount = 0;
        return this;
    }

    /**
     * Begins a new head from bytes in HTTP/1.1 format. The bytes are the status line and field lines, each with its
     * CRLF, without the empty line.
     *
     * @param bytes borrowed, and must not be changed
     * @param hasContentLength whether a Content-Length line is included
     */
    public OutboundHead resetWire(int newStatus, byte[] bytes, boolean hasContentLength) {
        reset(newStatus, "", FieldSection.EMPTY);
        wire = bytes;
        lengthInWire = hasContentLength;
        return this;
    }

    /** Returns an empty builder for the fields of this head. The fields are valid until the next call. */
    public FieldSection.Builder ownFields() {
        return ownFields.clear();
    }

    /** Sets the length of the content in bytes, or {@link #LENGTH_UNKNOWN}. */
    public OutboundHead contentLength(long length) {
        contentLength = length;
        return this;
    }

    /** Sends no content, regardless of the length field: a response to HEAD, or a 304 (RFC 9110 s6.4.1). */
    public OutboundHead withoutContent() {
        contentForbidden = true;
        return this;
    }

    /** Sets the value of the Age field; -1 for none (RFC 9111 s5.1). */
    public OutboundHead ageSeconds(long seconds) {
        ageSeconds = seconds;
        return this;
    }

    /** Sets the value of the Via field that this proxy adds (RFC 9110 s7.6.3). */
    public OutboundHead via(@Nullable AsciiString value) {
        via = value;
        return this;
    }

    /** Sets the value of the Content-Range field of a 206 or 416. */
    public OutboundHead contentRange(@Nullable AsciiString value) {
        contentRange = value;
        return this;
    }

    /** Sets the value of the Strict-Transport-Security field, for a head without one (RFC 6797). */
    public OutboundHead strictTransportSecurity(AsciiString value) {
        strictTransportSecurity = value;
        return this;
    }

    /** Returns true if the received or stored fields include a field with this name. */
    public boolean has(FieldName name) {
        return wire == null ? fields.contains(name) : name.hasLineIn(wire);
    }

    /**
     * Applies a change to the fields. Call after all other values are set. A later change also applies to lines that
     * earlier changes added, and to the Via, Cache-Status and Strict-Transport-Security of this proxy.
     */
    public OutboundHead edit(FieldEdits changes) {
        if (editCount == edits.length) {
            edits = Arrays.copyOf(edits, 2 * editCount);
        }
        edits[editCount++] = changes;
        if (via != null && changes.removes(FieldName.VIA)) {
            via = null;
        }
        if (cacheStatus.isReadable() && changes.removes(FieldName.CACHE_STATUS)) {
            cacheStatus.clear();
        }
        if (strictTransportSecurity != null && changes.removes(FieldName.STRICT_TRANSPORT_SECURITY)) {
            strictTransportSecurity = null;
        }
        return this;
    }

    /** Returns true if {@link #edit} was called since the last reset. */
    public boolean isEdited() {
        return editCount > 0;
    }

    /** Returns true if the changes remove or add fields with this name. */
    public boolean isEdited(FieldName name) {
        for (int i = 0; i < editCount; i++) {
            if (edits[i].removes(name) || edits[i].added().contains(name)) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if the changes remove the received or stored field in the range of bytes. */
    public boolean isRemoved(byte[] bytes, int nameStart, int nameEnd) {
        for (int i = 0; i < editCount; i++) {
            if (edits[i].removes(bytes, nameStart, nameEnd)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns true if the changes remove at least one line of {@link #wire}. Reads the lines only if the head is
     * edited.
     */
    public boolean isWireTrimmed() {
        byte[] bytes = wire;
        if (editCount == 0 || bytes == null) {
            return false;
        }
        for (int at = lineAfter(bytes, 0); at < bytes.length; at = lineAfter(bytes, at)) {
            if (isLineRemoved(bytes, at)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns true if the changes remove the line at a position. For most lines, the first letter of the name is enough
     * to decide.
     */
    private boolean isLineRemoved(byte[] bytes, int at) {
        for (int i = 0; i < editCount; i++) {
            if (edits[i].mayRemove(bytes[at]) && edits[i].removes(bytes, at, nameEnd(bytes, at))) {
                return true;
            }
        }
        return false;
    }

    /** Writes {@link #wire} without the removed lines. Borrows the buffer. */
    public void writeTrimmedWire(ByteBuf out) {
        byte[] bytes = wire;
        if (bytes == null) {
            throw new IllegalStateException("the head has no bytes in HTTP/1.1 format");
        }
        int start = 0;
        for (int at = lineAfter(bytes, 0), next = at; at < bytes.length; at = next) {
            next = lineAfter(bytes, at);
            if (isLineRemoved(bytes, at)) {
                out.writeBytes(bytes, start, at - start);
                start = next;
            }
        }
        out.writeBytes(bytes, start, bytes.length - start);
    }

    /** Writes the lines of {@link #fields} that are not removed. Borrows the buffer. */
    public void writeKeptFields(ByteBuf out) {
        for (int line = 0; line < fields.size(); line++) {
            if (!isRemoved(fields.bytes(), fields.nameStart(line), fields.nameEnd(line))) {
                fields.writeLineTo(line, out);
            }
        }
    }

    /** Writes the added lines as {@code Name: value CRLF}. Borrows the buffer. */
    public void writeAdded(ByteBuf out) {
        for (int i = 0; i < editCount; i++) {
            edits[i].writeAdded(out, edits, i + 1, editCount);
        }
    }

    /** The number of changes, for {@link #added} and {@link #isAdded}. */
    public int editCount() {
        return editCount;
    }

    /** The lines that change {@code i} adds. Later changes may remove some of them; see {@link #isAdded}. */
    public FieldSection added(int i) {
        return edits[i].added();
    }

    /** Returns true if no later change removes the line of {@link #added}. */
    public boolean isAdded(int i, int line) {
        return !FieldEdits.isRemovedBy(edits, i + 1, editCount, edits[i].added(), line);
    }

    /** An upper bound of the bytes of the added lines. */
    public int addedLength() {
        int length = 0;
        for (int i = 0; i < editCount; i++) {
            length += edits[i].addedLength();
        }
        return length;
    }

    /**
     * Returns the received or stored fields after all changes by {@link #edit}, without the fields that this proxy adds
     * to each response.
     */
    public FieldSection fieldsAfterEdits() {
        FieldSection now = fields;
        byte[] bytes = wire;
        if (bytes != null) {
            FieldSection parsed = FieldSection.parse(bytes, Math.min(bytes.length, lineAfter(bytes, 0)), bytes.length);
            now = parsed == null ? FieldSection.EMPTY : parsed;
        }
        for (int i = 0; i < editCount; i++) {
            now = edits[i].applyTo(now);
        }
        return now;
    }

    private static int lineAfter(byte[] bytes, int from) {
        int at = from;
        while (at < bytes.length && bytes[at] != '\n') {
            at++;
        }
        return at + 1;
    }

    private static int nameEnd(byte[] bytes, int from) {
        int at = from;
        while (at < bytes.length && bytes[at] != ':') {
            at++;
        }
        return at;
    }

    /** Marks the response as the last one of its connection. The connection is closed after it. */
    public OutboundHead closeConnection() {
        close = true;
        return this;
    }

    /** The buffer for the value of the Cache-Status field (RFC 9211); empty for no such field. Owned by this head. */
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

    /** The end-to-end fields without Content-Length, Age and hop-by-hop fields. */
    public FieldSection fields() {
        return fields;
    }

    /** The head in HTTP/1.1 format; null if it consists of status, reason and fields. Borrowed. */
    public byte @Nullable [] wire() {
        return wire;
    }

    /** Returns true if {@link #wire} has a Content-Length line. */
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

    /** Returns true if the connection is closed after this response. */
    public boolean closesConnection() {
        return close;
    }
}
