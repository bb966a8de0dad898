package io.millrace.store.engine.listing;

import io.millrace.store.CorruptHeadException;
import io.millrace.store.HeadCodec;
import io.millrace.store.HeadSummary;
import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.DamagedRecordException;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.index.Location;
import io.millrace.store.inventory.InventoryEntry;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the inventory entries of a volume's objects, from heads in memory or on disk.
 *
 * <p>Confined to the inventory's thread, except {@link #encoded}.
 */
final class ObjectDescriptions<H> {
    private static final Logger LOG = LoggerFactory.getLogger(ObjectDescriptions.class);
    /** Limit of entries that are kept in memory during a call of a listing. */
    private static final int SUMMARIES_MAX = 1024;

    private final HeadCodec<H> codec;
    private final Volume volume;
    /** Entries of keys that a listing asked for, by location. */
    private final Map<Long, InventoryEntry> summaries = new HashMap<>();

    ObjectDescriptions(HeadCodec<H> codec, Volume volume) {
        this.codec = codec;
        this.volume = volume;
    }

    /**
     * Returns the encoded entry of a record; null if its head cannot be described. Called on the volume's thread.
     *
     * @param head the decoded head; null if {@code encodedHead} must be decoded
     * @param encodedHead the encoded head; borrowed
     */
    byte @Nullable [] encoded(
            RecordHeader header, DiskKey key, long location, @Nullable H head, @Nullable ByteBuf encodedHead) {
        try {
            H decodedHead = head == null && encodedHead != null ? codec.decode(encodedHead.duplicate()) : head;
            return decodedHead == null
                    ? null
                    : entry(key.bytes(), header, decodedHead, Location.offset(location))
                            .encode();
        } catch (CorruptHeadException | RuntimeException e) {
            // An object whose head cannot be decoded gets no entry. Other objects are not affected.
            LOG.debug("{}: {}: {}", volume.directory(), Location.describe(location), e.toString());
            return null;
        }
    }

    /**
     * Reads the record at the location.
     *
     * @return null if it is damaged or not an object, or if its segment was reclaimed or moved
     * @throws IOException if it could not be read now
     */
    @Nullable
    InventoryEntry describe(long location) throws IOException {
        int segment = Location.segment(location);
        long tag = volume.pin(segment);
        if (tag == 0) {
            return null;
        }
        try {
            DiskRecord record = volume.reader().readHead(segment, Location.offset(location), tag);
            try {
                RecordHeader header = record.header();
                boolean isObject = header.type() == RecordType.COMPLETE || header.type() == RecordType.HEAD;
                return isObject
                        ? entry(record.key(), header, codec.decode(record.head()), Location.offset(location))
                        : null;
            } finally {
                record.release();
            }
        } catch (DamagedRecordException | CorruptHeadException | RuntimeException e) {
            // The next open of the object detects the error and handles it.
            LOG.debug("{}: {}: {}", volume.directory(), Location.describe(location), e.toString());
            return null;
        } finally {
            volume.unpin(segment);
        }
    }

    private InventoryEntry entry(byte[] key, RecordHeader header, H head, long offset) {
        HeadSummary summary = codec.summary(head);
        long storedAt = Math.max(0, Math.min(summary.storedAtSeconds(), 0xFFFF_FFFFL));
        return new InventoryEntry(
                offset,
                header.hashHigh(),
                header.hashLow(),
                header.bodyLength(),
                header.headLength(),
                header.expiry(),
                (int) storedAt,
                header.has(RecordHeader.FLAG_WHOLE),
                key,
                summary.text(),
                summary.tags());
    }

    /** Returns the summary of the object of a key; null if the volume does not have the key. */
    @Nullable
    HeadSummary summary(StoreKey key) {
        long location = volume.find(key.hashHigh(), key.hashLow());
        if (location == Location.NONE) {
            return null;
        }
        InventoryEntry entry = summaries.get(location);
        if (entry == null || !Arrays.equals(entry.key(), key.bytes())) {
            entry = describeNow(location);
            if (entry != null) {
                if (summaries.size() == SUMMARIES_MAX) {
                    summaries.clear();
                }
                summaries.put(location, entry);
            }
        }
        return entry == null || !Arrays.equals(entry.key(), key.bytes()) ? null : summary(entry);
    }

    private @Nullable InventoryEntry describeNow(long location) {
        try {
            return describe(location);
        } catch (IOException e) {
            LOG.debug("{}: {}: {}", volume.directory(), Location.describe(location), e.toString());
            return null;
        }
    }

    /** Forgets the summaries of {@link #summary}. Call at the end of a listing. */
    void forgetSummaries() {
        summaries.clear();
    }

    static HeadSummary summary(InventoryEntry entry) {
        return new HeadSummary(Integer.toUnsignedLong(entry.storedAt()), entry.text(), entry.tags());
    }
}
