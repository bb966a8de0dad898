package io.millrace.proxy.caching;

import io.millrace.proxy.caching.settings.LifetimeSource;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.store.CorruptHeadException;
import io.millrace.store.HeadCodec;
import io.millrace.store.HeadSummary;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Encodes and decodes stored heads. Numbers are big-endian; the checksum covers all bytes before it.
 *
 * <pre>
 *  0  version (1)          1  kind: 0 response, 1 vary marker (1)
 *  2  status (2)           4  flags (4)
 *  8  request time ms (8) 16  response time ms (8)  24  initial age ms (8)
 * 32  lifetime s (8)      40  lifetime source (1)   41  Date s (8)   49  Last-Modified s (8)
 * 57  content length (8)  65  stale-while-revalidate s (8)           73  stale-if-error s (8)
 * 81  keep until s (8)    89  nonce (8)             97  stamp (8)
 * 105  number of cache groups (2)                   107  their hashes (8 each)
 *     pinned until s (8), in version 3
 *     number of Vary names, 255 for * (1)
 *     per Vary name: length (2), text; the text for a cookie is "cookie=" and its name
 *     length of the Vary values (4), the values
 *     length of the status line (2), length of the wire head (4), the wire head
 *     CRC32C (4)
 * </pre>
 *
 * <p>Version 4 is written for heads with tags. It contains the pin, followed by
 *
 * <pre>
 *     length of the site's name (2), the name; 65535 and no name if the tags belong to the host of the URL
 *     length of the tags (4), the tags, each followed by a line feed
 * </pre>
 *
 * <p>Version 3 is written for pinned heads without tags, version 2 for all others. A pinned response stays on disk for
 * a time, even if no client requests it. Version 1 can still be read. It contains neither stamp nor cache groups; such
 * a head gets the stamp 0 and no groups.
 *
 * <p>Thread-safe: no state.
 */
public final class StoredHeadCodec implements HeadCodec<StoredHead> {

    /** The version written for heads without pin and tags. */
    static final byte VERSION = 2;

    /** The version written for pinned heads without tags. */
    static final byte VERSION_PINNED = 3;

    /** The version written for heads with tags. */
    static final byte VERSION_TAGGED = 4;

    /** The oldest version that can be read. */
    static final byte VERSION_MIN = 1;

    /** Length of the fixed part of version 1; later versions add the stamp and the number of groups. */
    private static final int FIXED_LENGTH = 98;

    /** Length of the stamp and the number of cache groups. */
    private static final int INVALIDATION_LENGTH = 10;
    /** Value in place of the number of Vary names, for {@code Vary: *}. */
    private static final int ANY = 255;
    /** Value in place of the length of the site's name, if the tags belong to the host of the URL. */
    private static final int NO_SITE = 0xffff;

    /** Prefix of the name of a cookie; no field name contains an equals sign. */
    private static final String COOKIE = "cookie=";

    private static final int CHECKSUM_LENGTH = 4;
    private static final byte[] NO_BYTES = {};

    @Override
    public void encode(StoredHead head, ByteBuf out) {
        out.ensureWritable(encodedLength(head));
        int start = out.writerIndex();
        write(head, out);
        out.writeInt(checksum(out, start, out.writerIndex() - start));
    }

    @Override
    public int encodedLength(StoredHead head) {
        int length = FIXED_LENGTH
                + (version(head) == VERSION ? 0 : 8)
                + tagsLength(head.tags())
                + INVALIDATION_LENGTH
                + 8 * head.groups().length
                + 4
                + head.varyValues.length
                + 6
                + head.wire.length
                + CHECKSUM_LENGTH;
        // Field names and cookie names contain Latin-1 characters only.
        for (FieldName name : head.variance.names()) {
            length += 2 + name.lower().length();
        }
        for (String cookie : head.variance.cookies()) {
            length += 2 + COOKIE.length() + cookie.length();
        }
        return length;
    }

    @Override
    public StoredHead decode(ByteBuf in) throws CorruptHeadException {
        byte[] bytes = new byte[in.readableBytes()];
        in.readBytes(bytes);
        if (bytes.length < FIXED_LENGTH + CHECKSUM_LENGTH) {
            throw new CorruptHeadException(
                    "length of stored head: actual=" + bytes.length + ", minimum=" + (FIXED_LENGTH + CHECKSUM_LENGTH));
        }
        if (bytes[0] < VERSION_MIN || bytes[0] > VERSION_TAGGED) {
            throw new CorruptHeadException("version of stored head: actual=" + bytes[0] + ", expected=" + VERSION_MIN
                    + " to " + VERSION_TAGGED);
        }
        int checked = bytes.length - CHECKSUM_LENGTH;
        int stored = ByteBuffer.wrap(bytes).getInt(checked);
        int actual = checksum(bytes, checked);
        if (stored != actual) {
            throw new CorruptHeadException("checksum of stored head: actual=" + Integer.toHexString(actual)
                    + ", expected=" + Integer.toHexString(stored));
        }
        try {
            return read(ByteBuffer.wrap(bytes, 0, checked));
        } catch (BufferUnderflowException | IllegalArgumentException | NegativeArraySizeException e) {
            throw corrupt("content of stored head: " + e, e);
        }
    }

    @Override
    public int heapBytes(StoredHead head) {
        return head.heapBytes();
    }

    @Override
    public long expiresAtSeconds(StoredHead head) {
        return head.keepUntilSeconds();
    }

    @Override
    public long pinnedUntilSeconds(StoredHead head) {
        return head.pinnedUntilSeconds();
    }

    @Override
    public HeadSummary summary(StoredHead head) {
        return StoredSummary.of(head);
    }

    private static void write(StoredHead head, ByteBuf out) {
        byte version = version(head);
        out.writeByte(version).writeByte(head.varyMarker ? 1 : 0);
        out.writeShort(head.status).writeInt(head.flags);
        out.writeLong(head.requestTimeMillis).writeLong(head.responseTimeMillis).writeLong(head.initialAgeMillis);
        out.writeLong(head.lifetimeSeconds).writeByte(head.lifetimeSource.code());
        out.writeLong(head.dateSeconds).writeLong(head.lastModifiedSeconds).writeLong(head.contentLength);
        out.writeLong(head.staleWhileRevalidateSeconds).writeLong(head.staleIfErrorSeconds);
        out.writeLong(head.keepUntilSeconds).writeLong(head.nonce);
        out.writeLong(head.stamp).writeShort(head.groups().length);
        for (long group : head.groups()) {
            out.writeLong(group);
        }
        if (version > VERSION) {
            out.writeLong(head.pinnedUntilSeconds);
        }
        if (version == VERSION_TAGGED) {
            writeTags(head.tags(), out);
        }
        writeVariance(head.variance, out);
        out.writeInt(head.varyValues.length).writeBytes(head.varyValues);
        out.writeShort(head.fieldsStart).writeInt(head.wire.length).writeBytes(head.wire);
    }

    private static byte version(StoredHead head) {
        byte untagged = head.pinnedUntilSeconds > 0 ? VERSION_PINNED : VERSION;
        return head.tags().isEmpty() ? untagged : VERSION_TAGGED;
    }

    private static int tagsLength(Tags tags) {
        return tags.isEmpty() ? 0 : 6 + siteBytes(tags).length + tags.packed().length;
    }

    private static byte[] siteBytes(Tags tags) {
        String site = tags.site();
        return site == null ? NO_BYTES : site.getBytes(StandardCharsets.UTF_8);
    }

    private static void writeTags(Tags tags, ByteBuf out) {
        byte[] site = siteBytes(tags);
        out.writeShort(tags.site() == null ? NO_SITE : site.length).writeBytes(site);
        out.writeInt(tags.packed().length).writeBytes(tags.packed());
    }

    private static Tags readTags(ByteBuffer in) {
        int length = in.getShort() & 0xffff;
        String site = length == NO_SITE ? null : new String(take(in, length), StandardCharsets.UTF_8);
        return Tags.ofPacked(site, take(in, in.getInt()));
    }

    private static void writeVariance(Variance variance, ByteBuf out) {
        List<FieldName> names = variance.names();
        List<String> cookies = variance.cookies();
        out.writeByte(variance.isAny() ? ANY : names.size() + cookies.size());
        for (FieldName name : names) {
            writeName(name.lower(), out);
        }
        for (String cookie : cookies) {
            writeName(COOKIE + cookie, out);
        }
    }

    private static void writeName(String name, ByteBuf out) {
        byte[] bytes = name.getBytes(StandardCharsets.ISO_8859_1);
        out.writeShort(bytes.length).writeBytes(bytes);
    }

    /** Returns the encoded head. */
    static byte[] bytes(StoredHead head) {
        StoredHeadCodec codec = new StoredHeadCodec();
        byte[] bytes = new byte[codec.encodedLength(head)];
        codec.encode(head, Unpooled.wrappedBuffer(bytes).clear());
        return bytes;
    }

    private static StoredHead read(ByteBuffer in) throws CorruptHeadException {
        StoredHeadBuilder parts = new StoredHeadBuilder();
        byte version = in.get();
        byte kind = in.get();
        parts.varyMarker = kind == 1;
        parts.status = in.getShort();
        parts.flags = in.getInt();
        parts.requestTimeMillis = in.getLong();
        parts.responseTimeMillis = in.getLong();
        parts.initialAgeMillis = in.getLong();
        parts.lifetimeSeconds = in.getLong();
        parts.lifetimeSource = LifetimeSource.ofCode(in.get());
        parts.dateSeconds = in.getLong();
        parts.lastModifiedSeconds = in.getLong();
        parts.contentLength = in.getLong();
        parts.staleWhileRevalidateSeconds = in.getLong();
        parts.staleIfErrorSeconds = in.getLong();
        parts.keepUntilSeconds = in.getLong();
        parts.nonce = in.getLong();
        if (version > 1) {
            parts.stamp = in.getLong();
            parts.groups = readGroups(in);
        }
        if (version >= VERSION_PINNED) {
            parts.pinnedUntil(in.getLong());
        }
        if (version == VERSION_TAGGED) {
            parts.tags = readTags(in);
        }
        parts.variance = readVariance(in);
        parts.varyValues = take(in, in.getInt());
        int fieldsStart = in.getShort() & 0xffff;
        parts.wire = take(in, in.getInt());
        boolean valid = (kind == 0 || kind == 1)
                && (parts.flags & ~StoredHead.FLAGS) == 0
                && parts.initialAgeMillis >= 0
                && parts.lifetimeSeconds >= 0
                && parts.contentLength >= StoredHead.UNKNOWN
                && parts.stamp >= 0
                && !in.hasRemaining()
                && (kind == 1 || (parts.status >= 200 && parts.status <= 999));
        if (!valid) {
            throw new CorruptHeadException("content of stored head: a number is out of its range");
        }
        readFields(parts, fieldsStart);
        return parts.build();
    }

    private static long[] readGroups(ByteBuffer in) throws CorruptHeadException {
        int count = in.getShort();
        if (count < 0 || count > CacheGroups.GROUPS_MAX) {
            throw new CorruptHeadException(
                    "number of cache groups: actual=" + count + ", maximum=" + CacheGroups.GROUPS_MAX);
        }
        long[] groups = count == 0 ? Invalidations.NO_GROUPS : new long[count];
        for (int i = 0; i < count; i++) {
            groups[i] = in.getLong();
        }
        return groups;
    }

    private static Variance readVariance(ByteBuffer in) throws CorruptHeadException {
        int count = in.get() & 0xff;
        if (count == ANY) {
            return Variance.ANY;
        }
        if (count > Variance.NAMES_MAX) {
            throw new CorruptHeadException("number of Vary names: actual=" + count + ", maximum=" + Variance.NAMES_MAX);
        }
        List<FieldName> names = new ArrayList<>(count);
        List<String> cookies = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String text = new String(take(in, in.getShort() & 0xffff), StandardCharsets.ISO_8859_1);
            if (text.startsWith(COOKIE)) {
                cookies.add(text.substring(COOKIE.length()));
            } else {
                names.add(FieldName.of(text));
            }
        }
        return Variance.ofNames(names, cookies);
    }

    private static void readFields(StoredHeadBuilder parts, int fieldsStart) throws CorruptHeadException {
        boolean inside = fieldsStart <= parts.wire.length;
        FieldSection fields = inside ? FieldSection.parse(parts.wire, fieldsStart, parts.wire.length) : null;
        if (fields == null) {
            throw new CorruptHeadException("fields of stored head: not well formed from " + fieldsStart + " of "
                    + parts.wire.length + " bytes");
        }
        parts.fieldsStart = fieldsStart;
        parts.locateEntityTag(fields, 0);
    }

    private static byte[] take(ByteBuffer in, int length) {
        if (length < 0 || length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        if (length == 0) {
            return NO_BYTES;
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }

    private static int checksum(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (int) crc.getValue();
    }

    private static int checksum(ByteBuf bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.nioBuffer(from, length));
        return (int) crc.getValue();
    }

    private static CorruptHeadException corrupt(String message, Throwable cause) {
        CorruptHeadException exception = new CorruptHeadException(message);
        exception.initCause(cause);
        return exception;
    }
}
