package io.millrace.proxy.purge;

import io.millrace.proxy.caching.tags.TagKey;
import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One invalidation (purge) of stored responses, as the journal on disk stores it. Its bytes in the journal,
 * big-endian:
 *
 * <pre>
 *  0  kind (1)   1  flags (1): 1 soft   2  zero (2)
 *  4  identifier of the secret key with which the tag is hashed (4); 0 for other kinds
 *  8  hash of the host, group, tag or URL (8); for TAGS 1 if they apply to
 *    every site, else 0; for UNDONE the stamp of the undone purge; for PATTERN_RETIRED the stamp
 *    of a purge by pattern that has removed its objects; for FLEET_POSITION the number of
 *    positions written so far; 0 for other kinds
 * 16  for PREFIX the beginning of the path; for TAG_KEY the key; for TAGS hash (8) and stamp (8) of each tag;
 *    for PATTERN the expression in UTF-8; for FLEET_PURGE the shared identifier;
 *    for FLEET_POSITION the position as text
 * </pre>
 *
 * The stamp, a number that increases with each purge, is stored beside these bytes. Immutable.
 */
public final class InvalidationEntry {
    private static final int FIXED_LENGTH = 16;
    private static final int SOFT = 1;
    private static final byte[] NO_PREFIX = {};

    private final InvalidationKind kind;
    private final boolean soft;
    private final long stamp;
    private final long hash;
    private final int keyId;
    private final byte[] prefix;

    private InvalidationEntry(InvalidationKind kind, boolean soft, long stamp, long hash, int keyId, byte[] prefix) {
        this.kind = kind;
        this.soft = soft;
        this.stamp = stamp;
        this.hash = hash;
        this.keyId = keyId;
        this.prefix = prefix;
    }

    static InvalidationEntry of(InvalidationKind kind, boolean soft, long stamp, long hash) {
        return new InvalidationEntry(kind, soft, stamp, hash, 0, NO_PREFIX);
    }

    static InvalidationEntry ofTag(InvalidationKind kind, boolean soft, long stamp, long hash, int keyId) {
        return new InvalidationEntry(kind, soft, stamp, hash, keyId, NO_PREFIX);
    }

    /** Creates an entry with variable bytes. Takes ownership of the array. */
    static InvalidationEntry ofBytes(
            InvalidationKind kind, boolean soft, long stamp, long hash, int keyId, byte[] bytes) {
        return new InvalidationEntry(kind, soft, stamp, hash, keyId, bytes);
    }

    /** Creates the entry of a purge by pattern. */
    static InvalidationEntry ofPattern(PurgedPattern pattern) {
        byte[] text = pattern.text().getBytes(StandardCharsets.UTF_8);
        return ofBytes(InvalidationKind.PATTERN, pattern.isSoft(), pattern.stamp(), 0, 0, text);
    }

    /** Creates the entry of another node's purge. */
    static InvalidationEntry ofFleetPurge(String sharedId, long stamp) {
        return ofBytes(InvalidationKind.FLEET_PURGE, false, stamp, 0, 0, sharedId.getBytes(StandardCharsets.UTF_8));
    }

    /** Creates the entry of a position in the stream of the fleet's purges. */
    static InvalidationEntry ofFleetPosition(long stamp, long version, FleetPosition position) {
        return ofBytes(InvalidationKind.FLEET_POSITION, false, stamp, version, 0, position.bytes());
    }

    /** Creates the entry of a purge by path prefix. Takes ownership of the array. */
    static InvalidationEntry ofPrefix(boolean soft, long stamp, long hostHash, byte[] prefix) {
        return new InvalidationEntry(InvalidationKind.PREFIX, soft, stamp, hostHash, 0, prefix);
    }

    /**
     * Reads the result of {@link #bytes}.
     *
     * @throws IllegalArgumentException if the bytes are not an entry
     */
    static InvalidationEntry read(long stamp, byte[] content) {
        if (content.length < FIXED_LENGTH) {
            throw new IllegalArgumentException(
                    "length of an invalidation: actual=" + content.length + ", minimum=" + FIXED_LENGTH);
        }
        ByteBuffer in = ByteBuffer.wrap(content);
        InvalidationKind kind = InvalidationKind.ofCode(in.get(0));
        int variableLength = content.length - FIXED_LENGTH;
        boolean fits =
                switch (kind) {
                    case TAG_KEY -> variableLength == TagKey.LENGTH;
                    case TAGS -> variableLength > 0 && variableLength % 16 == 0;
                    default -> true;
                };
        if (!fits) {
            throw new IllegalArgumentException("length of an invalidation: actual=" + content.length);
        }
        return new InvalidationEntry(
                kind,
                (in.get(1) & SOFT) != 0,
                stamp,
                in.getLong(8),
                in.getInt(4),
                Arrays.copyOfRange(content, FIXED_LENGTH, content.length));
    }

    byte[] bytes() {
        ByteBuffer out = ByteBuffer.allocate(FIXED_LENGTH + prefix.length);
        out.put(0, (byte) kind.code())
                .put(1, (byte) (soft ? SOFT : 0))
                .putInt(4, keyId)
                .putLong(8, hash);
        out.put(FIXED_LENGTH, prefix);
        return out.array();
    }

    /** The kind of scope. It is wider than the requested kind if a table was full. */
    public InvalidationKind kind() {
        return kind;
    }

    /** Returns true for a soft purge: covered responses may be used again after validation. */
    public boolean isSoft() {
        return soft;
    }

    /** The stamp of the purge. It outdates covered responses whose fetch began under a lower stamp. */
    public long stamp() {
        return stamp;
    }

    long hash() {
        return hash;
    }

    int keyId() {
        return keyId;
    }

    /** The variable bytes after the hash, such as the path prefix; borrowed. */
    byte[] prefix() {
        return prefix;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof InvalidationEntry that && stamp == that.stamp && Arrays.equals(bytes(), that.bytes());
    }

    @Override
    public int hashCode() {
        return Long.hashCode(stamp) * 31 + Long.hashCode(hash);
    }

    @Override
    public String toString() {
        return kind.text() + (soft ? " soft" : "") + " at " + stamp;
    }
}
