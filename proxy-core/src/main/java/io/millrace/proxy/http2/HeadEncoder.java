package io.millrace.proxy.http2;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http2.hpack.HuffmanCode;
import io.millrace.proxy.http2.hpack.StaticTable;
import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Encodes HTTP heads as HPACK field blocks (RFC 7541 s6). Caches the encoding of stored heads (response heads from the
 * cache).
 *
 * <p>The HPACK dynamic table is not used. Therefore a cached block is valid for every connection. One instance
 * per event loop.
 *
 * <p>Confined to one event loop.
 */
public final class HeadEncoder {
    /** Number of stored heads whose encoding is cached; a power of two. */
    private static final int CACHED_HEADS = 1024;
    /** Size limit of a cached head in bytes. A longer stored head is encoded for each response. */
    private static final int CACHED_BYTES_MAX = 4096;

    /** Length of the shortest HTTP/1.1 status line with its line end: {@code HTTP/1.1 200 CRLF}. */
    private static final int STATUS_LINE_MIN = 15;

    private static final byte[] TE = "te".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TRAILERS = "trailers".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CACHE_STATUS = "cache-status".getBytes(StandardCharsets.US_ASCII);

    private static final FieldName[] CONNECTION_FIELDS = {
        FieldName.CONNECTION,
        FieldName.PROXY_CONNECTION,
        FieldName.KEEP_ALIVE,
        FieldName.TRANSFER_ENCODING,
        FieldName.UPGRADE
    };

    /** Request fields that must not enter the dynamic table of another hop (RFC 7541 s7.1.3). */
    private static final FieldName[] SENSITIVE = {
        FieldName.AUTHORIZATION, FieldName.COOKIE, FieldName.PROXY_AUTHORIZATION
    };

    private static final FieldName WEBSOCKET_ACCEPT = FieldName.of("Sec-WebSocket-Accept");
    private static final int NAME_SLOTS = 512;

    private byte[] block = new byte[2048];
    private int length;
    private int start;

    /** The cached heads, compared by identity. */
    private final byte[] @Nullable [] cachedHeads = new byte[CACHED_HEADS][];

    /** The encodings of {@link #cachedHeads}, by the same index; null until the second use of the head. */
    private final byte[] @Nullable [] cachedBlocks = new byte[CACHED_HEADS][];

    /** Lower-case field names by their hash, added on first use. */
    private final byte[] @Nullable [] names = new byte[NAME_SLOTS][];

    /** The index in the static table of each name in {@link #names}; 0 for none. */
    private final int[] nameIndices = new int[NAME_SLOTS];

    /** The encoded block; borrowed, and valid until the next call. */
    public byte[] block() {
        return block;
    }

    /** Length of the encoded block in bytes. */
    public int length() {
        return length;
    }

    /**
     * Encodes the final head of a response.
     *
     * @param withoutTable whether the block begins by disabling the dynamic table, because the client reduced its size
     */
    void encode(OutboundHead head, boolean withoutTable) {
        begin(withoutTable);
        appendStatus(head.status());
        byte[] wire = head.wire();
        if (head.isEdited()) {
            encodeEdited(head, wire);
        } else if (wire != null) {
            encodeStored(wire);
        } else {
            appendFields(head.fields());
        }
        if (head.ageSeconds() >= 0) {
            appendNumber(StaticTable.AGE, head.ageSeconds());
        }
        AsciiString via = head.via();
        if (via != null) {
            appendValue(StaticTable.VIA, via.array(), via.arrayOffset(), via.length());
        }
        appendCacheStatus(head.cacheStatus());
        AsciiString range = head.contentRange();
        if (range != null) {
            appendValue(StaticTable.CONTENT_RANGE, range.array(), range.arrayOffset(), range.length());
        }
        AsciiString security = head.strictTransportSecurity();
        if (security != null) {
            appendValue(
                    StaticTable.STRICT_TRANSPORT_SECURITY, security.array(), security.arrayOffset(), security.length());
        }
        if (head.contentLength() >= 0 && !head.isLengthInWire() && head.status() != 204) {
            appendNumber(StaticTable.CONTENT_LENGTH, head.contentLength());
        }
    }

    /** Encodes a head to which rules added or removed fields. Uses the cached encoding if no stored line is removed. */
    private void encodeEdited(OutboundHead head, byte @Nullable [] wire) {
        if (wire == null) {
            appendFields(head.fields(), head);
        } else if (head.isWireTrimmed()) {
            appendWireFields(wire, false, head);
        } else {
            encodeStored(wire);
        }
        for (int i = 0; i < head.editCount(); i++) {
            FieldSection added = head.added(i);
            for (int line = 0; line < added.size(); line++) {
                if (head.isAdded(i, line)) {
                    appendField(added, line);
                }
            }
        }
    }

    /** Encodes the head of an interim response (1xx). Uses only its status and fields. */
    void encodeInterim(OutboundHead head, boolean withoutTable) {
        begin(withoutTable);
        appendStatus(head.status());
        appendFields(head.fields());
    }

    /**
     * Encodes a request head. Omits connection-specific fields. Also omits Host, Content-Length and TE, because the
     * other parameters replace them.
     *
     * @param authority ISO-8859-1 bytes of the Host field
     * @param contentLength length of the content in bytes; negative if unknown or if there is no content
     * @param acceptsTrailers whether to add {@code TE: trailers}
     * @param withoutTable as in {@link #encode}
     */
    public void encodeRequest(
            String method,
            boolean secure,
            byte[] authority,
            byte[] path,
            FieldSection fields,
            long contentLength,
            boolean acceptsTrailers,
            boolean withoutTable) {
        begin(withoutTable);
        switch (method) {
            case "GET" -> block[length++] = (byte) (0x80 | StaticTable.METHOD);
            case "POST" -> block[length++] = (byte) (0x80 | (StaticTable.METHOD + 1));
            default -> {
                byte[] name = method.getBytes(StandardCharsets.US_ASCII);
                appendValue(StaticTable.METHOD, name, 0, name.length);
            }
        }
        block[length++] = (byte) (0x80 | (secure ? StaticTable.SCHEME + 1 : StaticTable.SCHEME));
        appendValue(StaticTable.AUTHORITY, authority, 0, authority.length);
        appendValue(StaticTable.PATH, path, 0, path.length);
        byte[] bytes = fields.bytes();
        for (int line = 0; line < fields.size(); line++) {
            if (fields.isNamed(line, FieldName.HOST)
                    || fields.isNamed(line, FieldName.CONTENT_LENGTH)
                    || fields.isNamed(line, FieldName.TE)
                    || isConnectionField(fields, line)) {
                continue;
            }
            int first = length;
            appendField(
                    bytes,
                    fields.nameStart(line),
                    fields.nameEnd(line),
                    fields.valueStart(line),
                    fields.valueEnd(line),
                    false);
            if (isSensitive(fields, line)) {
                // A literal that no hop may add to a dynamic table (RFC 7541 s6.2.3).
                block[first] |= 0x10;
            }
        }
        if (contentLength >= 0) {
            appendNumber(StaticTable.CONTENT_LENGTH, contentLength);
        }
        if (acceptsTrailers) {
            ensure(TE.length + TRAILERS.length + 8);
            appendName(TE);
            appendInteger(0, 7, TRAILERS.length);
            System.arraycopy(TRAILERS, 0, block, length, TRAILERS.length);
            length += TRAILERS.length;
        }
    }

    private static boolean isSensitive(FieldSection fields, int line) {
        for (FieldName name : SENSITIVE) {
            if (fields.isNamed(line, name)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Encodes the response head that opens a tunnel, always with status 200 (RFC 8441 s5). Omits
     * Sec-WebSocket-Accept, because an HTTP/2 client sends no key.
     */
    void encodeSwitched(OutboundHead head, boolean withoutTable) {
        begin(withoutTable);
        appendStatus(200);
        FieldSection fields = head.fields();
        if (fields.contains(WEBSOCKET_ACCEPT)) {
            FieldSection.Builder kept = FieldSection.builderLike(fields);
            for (int line = 0; line < fields.size(); line++) {
                if (!fields.isNamed(line, WEBSOCKET_ACCEPT)) {
                    kept.addLine(fields, line);
                }
            }
            fields = kept.build();
        }
        appendFields(fields);
        AsciiString via = head.via();
        if (via != null) {
            appendValue(StaticTable.VIA, via.array(), via.arrayOffset(), via.length());
        }
    }

    /** Encodes a trailer section. */
    void encodeTrailers(FieldSection trailers, boolean withoutTable) {
        begin(withoutTable);
        appendFields(trailers);
    }

    private void begin(boolean withoutTable) {
        length = 0;
        if (withoutTable) {
            // Sets the size of the dynamic table to 0 (RFC 7541 s6.3).
            block[length++] = 0x20;
        }
    }

    private void appendStatus(int status) {
        int index =
                switch (status) {
                    case 200 -> 8;
                    case 204 -> 9;
                    case 206 -> 10;
                    case 304 -> 11;
                    case 400 -> 12;
                    case 404 -> 13;
                    case 500 -> 14;
                    default -> 0;
                };
        if (index > 0) {
            block[length++] = (byte) (0x80 | index);
        } else {
            appendNumber(StaticTable.STATUS, status);
        }
    }

    private void appendNumber(int nameIndex, long value) {
        ensure(32);
        appendInteger(0, 4, nameIndex);
        int digits = 1;
        for (long rest = value; rest >= 10; rest /= 10) {
            digits++;
        }
        block[length++] = (byte) digits;
        long rest = value;
        for (int i = digits - 1; i >= 0; i--) {
            block[length + i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        length += digits;
    }

    private void appendValue(int nameIndex, byte[] bytes, int from, int count) {
        ensure(count + 16);
        appendInteger(0, 4, nameIndex);
        appendInteger(0, 7, count);
        System.arraycopy(bytes, from, block, length, count);
        length += count;
    }

    private void appendCacheStatus(ByteBuf value) {
        int count = value.readableBytes();
        if (count > 0) {
            ensure(CACHE_STATUS.length + count + 16);
            appendName(CACHE_STATUS);
            appendInteger(0, 7, count);
            value.getBytes(value.readerIndex(), block, length, count);
            length += count;
        }
    }

    private void appendName(byte[] name) {
        block[length++] = 0;
        appendInteger(0, 7, name.length);
        System.arraycopy(name, 0, block, length, name.length);
        length += name.length;
    }

    /** Appends an integer with a prefix of {@code prefix} bits (RFC 7541 s5.1). */
    private void appendInteger(int flags, int prefix, int value) {
        int max = (1 << prefix) - 1;
        if (value < max) {
            block[length++] = (byte) (flags | value);
            return;
        }
        block[length++] = (byte) (flags | max);
        int rest = value - max;
        while (rest >= 0x80) {
            block[length++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        block[length++] = (byte) rest;
    }

    private void ensure(int more) {
        if (length + more > block.length) {
            block = Arrays.copyOf(block, Math.max(2 * block.length, length + more));
        }
    }

    /**
     * Appends the fields of a stored head. Caches the encoding at the second use, because most heads of partial
     * responses (206) are used only once.
     */
    private void encodeStored(byte[] wire) {
        if (wire.length > CACHED_BYTES_MAX) {
            appendWireFields(wire, false, null);
            return;
        }
        int slot = System.identityHashCode(wire) & (CACHED_HEADS - 1);
        if (cachedHeads[slot] != wire) {
            cachedHeads[slot] = wire;
            cachedBlocks[slot] = null;
            appendWireFields(wire, false, null);
            return;
        }
        byte[] kept = cachedBlocks[slot];
        if (kept == null) {
            start = length;
            appendWireFields(wire, true, null);
            cachedBlocks[slot] = Arrays.copyOfRange(block, start, length);
            return;
        }
        ensure(kept.length);
        System.arraycopy(kept, 0, block, length, kept.length);
        length += kept.length;
    }

    /**
     * Appends the field lines after the status line of an HTTP/1.1 head.
     *
     * @param edits the head whose changes remove lines; null if all lines are kept
     */
    private void appendWireFields(byte[] wire, boolean huffman, @Nullable OutboundHead edits) {
        int at = STATUS_LINE_MIN - 2;
        while (wire[at] != '\r') {
            at++;
        }
        at += 2;
        while (at < wire.length) {
            int nameEnd = at;
            while (wire[nameEnd] != ':') {
                nameEnd++;
            }
            int valueEnd = nameEnd + 1;
            while (wire[valueEnd] != '\r') {
                valueEnd++;
            }
            if (edits == null || !edits.isRemoved(wire, at, nameEnd)) {
                int valueStart = FieldLexer.skipSpace(wire, nameEnd + 1, valueEnd);
                appendField(wire, at, nameEnd, valueStart, FieldLexer.trimEnd(wire, valueStart, valueEnd), huffman);
            }
            at = valueEnd + 2;
        }
    }

    private void appendFields(FieldSection fields) {
        appendFields(fields, null);
    }

    /** @param edits as for {@link #appendWireFields} */
    private void appendFields(FieldSection fields, @Nullable OutboundHead edits) {
        boolean filtered = hasConnectionField(fields);
        for (int line = 0; line < fields.size(); line++) {
            boolean kept = !filtered || !isConnectionField(fields, line);
            if (kept
                    && (edits == null
                            || !edits.isRemoved(fields.bytes(), fields.nameStart(line), fields.nameEnd(line)))) {
                appendField(fields, line);
            }
        }
    }

    private void appendField(FieldSection fields, int line) {
        appendField(
                fields.bytes(),
                fields.nameStart(line),
                fields.nameEnd(line),
                fields.valueStart(line),
                fields.valueEnd(line),
                false);
    }

    private static boolean hasConnectionField(FieldSection fields) {
        for (FieldName name : CONNECTION_FIELDS) {
            if (fields.contains(name)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isConnectionField(FieldSection fields, int line) {
        for (FieldName name : CONNECTION_FIELDS) {
            if (fields.isNamed(line, name)) {
                return true;
            }
        }
        return false;
    }

    private void appendField(byte[] bytes, int nameStart, int nameEnd, int valueStart, int valueEnd, boolean huffman) {
        int count = valueEnd - valueStart;
        ensure(nameEnd - nameStart + count + 24);
        int slot = nameSlot(bytes, nameStart, nameEnd);
        if (slot >= 0 && nameIndices[slot] > 0) {
            appendInteger(0, 4, nameIndices[slot]);
        } else {
            block[length++] = 0;
            appendInteger(0, 7, nameEnd - nameStart);
            for (int i = nameStart; i < nameEnd; i++) {
                block[length++] = (byte) FieldLexer.lower(bytes[i] & 0xff);
            }
        }
        int encoded = huffman ? HuffmanCode.encodedLength(bytes, valueStart, valueEnd) : count;
        if (encoded < count) {
            appendInteger(0x80, 7, encoded);
            length = HuffmanCode.encode(bytes, valueStart, valueEnd, block, length);
        } else {
            appendInteger(0, 7, count);
            System.arraycopy(bytes, valueStart, block, length, count);
            length += count;
        }
    }

    /** Returns the slot of a field name in {@link #names}. Replaces another name in the slot. */
    private int nameSlot(byte[] bytes, int from, int to) {
        int hash = to - from;
        for (int i = from; i < to; i++) {
            hash = 31 * hash + FieldLexer.lower(bytes[i] & 0xff);
        }
        int slot = (hash ^ (hash >>> 9)) & (NAME_SLOTS - 1);
        byte[] known = names[slot];
        if (known == null || !isName(known, bytes, from, to)) {
            String name = new String(bytes, from, to - from, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
            names[slot] = name.getBytes(StandardCharsets.ISO_8859_1);
            nameIndices[slot] = StaticTable.find(name);
        }
        return slot;
    }

    private static boolean isName(byte[] known, byte[] bytes, int from, int to) {
        if (known.length != to - from) {
            return false;
        }
        for (int i = 0; i < known.length; i++) {
            if (known[i] != FieldLexer.lower(bytes[from + i] & 0xff)) {
                return false;
            }
        }
        return true;
    }
}
