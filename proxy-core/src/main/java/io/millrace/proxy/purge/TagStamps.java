package io.millrace.proxy.purge;

import io.millrace.proxy.caching.tags.TagKey;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.http.TargetUri;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The purge stamps of tags, by hashes with a secret key. A stamp is a number that increases with each purge. The
 * journal contains the key after the first purge of a tag. If an entry with another key is found, for example
 * on a storage path from another machine, all tags are purged. This raises a floor: responses whose fetch began under a
 * stamp below the floor count as purged if they have a tag.
 *
 * <p>Any thread may read without a lock. Changes need the lock of the owner.
 */
final class TagStamps {
    /** Limit of pairs of hash and stamp in one journal entry. */
    private static final int PAIRS_MAX = 250;

    private static final int PAIR_BYTES = 16;

    private final LabelStamps stamps;
    private volatile TagKey key;
    /** Stamp of the journal entry with the key; 0 if there is no such entry yet. */
    private volatile long keyStamp;
    /** True if a tag was purged on every site, so that lookups must also probe tags without a site. */
    private volatile boolean everywhere;

    /** Creates an empty table with a limit of stamps. */
    TagStamps(int entriesMax) {
        stamps = new LabelStamps(entriesMax);
        key = newKey();
    }

    private static TagKey newKey() {
        byte[] bytes = new byte[TagKey.LENGTH];
        new SecureRandom().nextBytes(bytes);
        return TagKey.of(bytes);
    }

    private int keyId() {
        return key.hashCode();
    }

    LabelStamps stamps() {
        return stamps;
    }

    /** Returns true if a purge outdates a response with these tags whose fetch began under {@code stamp}. */
    boolean outdates(TargetUri url, long stamp, Tags tags, boolean softly) {
        if (tags.isEmpty()) {
            return false;
        }
        if (stamp < stamps.floor(softly)) {
            return true;
        }
        if (!stamps.hasAny(softly)) {
            return false;
        }
        TagKey now = key;
        boolean all = everywhere;
        long site = tags.siteHash(now, url);
        for (long hash : tags.hashes(now, url)) {
            if (stamp < stamps.stamp(hash ^ site, softly) || (all && stamp < stamps.stamp(hash, softly))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the lowest soft stamp of these tags above {@code responseStamp}; {@link Long#MAX_VALUE} if there is
     * none.
     */
    long firstSoft(TargetUri url, long responseStamp, Tags tags) {
        long first = Long.MAX_VALUE;
        if (tags.isEmpty()) {
            return first;
        }
        first = lower(first, stamps.floor(true), responseStamp);
        if (!stamps.hasAny(true)) {
            return first;
        }
        TagKey now = key;
        long site = tags.siteHash(now, url);
        for (long hash : tags.hashes(now, url)) {
            first = lower(first, stamps.stamp(hash ^ site, true), responseStamp);
            first = lower(first, stamps.stamp(hash, true), responseStamp);
        }
        return first;
    }

    /**
     * Returns the newest stamp of these tags above {@code responseStamp}. Returns 0 if there is none, or if only a
     * floor is above {@code responseStamp}.
     */
    long newest(TargetUri url, long responseStamp, Tags tags, boolean softly) {
        long newest = 0;
        if (tags.isEmpty() || !stamps.hasAny(softly)) {
            return newest;
        }
        TagKey now = key;
        long site = tags.siteHash(now, url);
        for (long hash : tags.hashes(now, url)) {
            newest = Math.max(newest, Math.max(stamps.stamp(hash ^ site, softly), stamps.stamp(hash, softly)));
        }
        return newest > responseStamp ? newest : 0;
    }

    /** Returns true if the tag of an entry was hashed with the current key. */
    boolean hasCurrentKey(InvalidationEntry entry) {
        return entry.keyId() == keyId();
    }

    /** Returns the lower of two stamps. Ignores a stamp that is not above {@code responseStamp}. */
    private static long lower(long first, long stamp, long responseStamp) {
        return stamp > responseStamp ? Math.min(first, stamp) : first;
    }

    /** Creates the entry of a purge of one tag, on one site or on every site. */
    InvalidationEntry entry(InvalidationScope scope, boolean softly, long stamp) {
        byte[] tag = Objects.requireNonNull(scope.tag(), "tag");
        long hash = key.tag(tag, 0, tag.length);
        String site = scope.site();
        return site == null
                ? InvalidationEntry.ofTag(InvalidationKind.TAG_EVERYWHERE, softly, stamp, hash, keyId())
                : InvalidationEntry.ofTag(InvalidationKind.TAG, softly, stamp, hash ^ key.site(site), keyId());
    }

    /**
     * Adds the stamp of a tag purge.
     *
     * @return false if the table is full
     */
    boolean put(InvalidationEntry entry) {
        if (entry.keyId() != keyId()) {
            stamps.raiseFloor(entry.stamp(), entry.isSoft());
            return true;
        }
        if (!stamps.raise(entry.hash(), entry.stamp(), entry.isSoft())) {
            return false;
        }
        everywhere |= entry.kind() == InvalidationKind.TAG_EVERYWHERE;
        return true;
    }

    /** Returns the journal entry with the key; null if the journal already contains it. */
    @Nullable
    InvalidationEntry announceKey(long stamp) {
        if (keyStamp != 0) {
            return null;
        }
        keyStamp = stamp;
        return keyEntry();
    }

    private InvalidationEntry keyEntry() {
        return InvalidationEntry.ofBytes(InvalidationKind.TAG_KEY, false, keyStamp, 0, keyId(), key.bytes());
    }

    /**
     * Takes the key from a journal entry. Among several keys, the oldest is used. If the key changes, the highest
     * stamps under the old key become floors, which purge all tags.
     */
    void adopt(InvalidationEntry entry) {
        TagKey found = TagKey.of(entry.prefix());
        boolean same = found.equals(key);
        if (same || keyStamp == 0 || entry.stamp() < keyStamp) {
            keyStamp = same && keyStamp != 0 ? Math.min(keyStamp, entry.stamp()) : entry.stamp();
            if (!same) {
                convertToFloors();
                key = found;
            }
        }
    }

    /** Raises the floors to the highest stamps of tags, and removes these stamps. */
    private void convertToFloors() {
        for (boolean softly : new boolean[] {false, true}) {
            long[] highest = {0};
            stamps.forEach(softly, (hash, stamp) -> highest[0] = Math.max(highest[0], stamp));
            stamps.raiseFloor(highest[0], softly);
        }
        stamps.forgetCovered(0, 0);
        everywhere = false;
    }

    /** Adds all entries in force: first the key, then the stamps. */
    void addTo(List<InvalidationEntry> all) {
        if (keyStamp != 0) {
            all.add(keyEntry());
        }
        for (boolean softly : new boolean[] {false, true}) {
            Pairs pairs = new Pairs(softly, all);
            stamps.forEach(softly, pairs::add);
            pairs.end();
        }
    }

    /** Packs the stamps of many tags into few journal entries. */
    private final class Pairs {
        private final boolean softly;
        private final List<InvalidationEntry> to;
        private final ByteBuffer pairs = ByteBuffer.allocate(PAIRS_MAX * PAIR_BYTES);
        private long highest;

        Pairs(boolean softly, List<InvalidationEntry> to) {
            this.softly = softly;
            this.to = to;
        }

        void add(long hash, long stamp) {
            pairs.putLong(hash).putLong(stamp);
            highest = Math.max(highest, stamp);
            if (!pairs.hasRemaining()) {
                end();
            }
        }

        void end() {
            if (pairs.position() > 0) {
                byte[] bytes = Arrays.copyOf(pairs.array(), pairs.position());
                long flag = everywhere ? 1 : 0;
                to.add(InvalidationEntry.ofBytes(InvalidationKind.TAGS, softly, highest, flag, keyId(), bytes));
                pairs.clear();
                highest = 0;
            }
        }
    }

    /** Unpacks an entry of {@link InvalidationKind#TAGS} into single entries. */
    static InvalidationEntry[] unpack(InvalidationEntry packed) {
        ByteBuffer pairs = ByteBuffer.wrap(packed.prefix());
        InvalidationEntry[] entries = new InvalidationEntry[pairs.remaining() / PAIR_BYTES];
        InvalidationKind kind = packed.hash() == 0 ? InvalidationKind.TAG : InvalidationKind.TAG_EVERYWHERE;
        for (int i = 0; i < entries.length; i++) {
            long hash = pairs.getLong();
            entries[i] = InvalidationEntry.ofTag(kind, packed.isSoft(), pairs.getLong(), hash, packed.keyId());
        }
        return entries;
    }
}
