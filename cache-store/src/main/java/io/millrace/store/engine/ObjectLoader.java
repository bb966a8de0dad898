package io.millrace.store.engine;

import io.millrace.store.HeadCodec;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DamagedRecordException;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.engine.filling.BodyRegister;
import io.millrace.store.engine.filling.FillingObject;
import io.millrace.store.engine.object.BlockMap;
import io.millrace.store.engine.object.DiskObject;
import io.millrace.store.engine.object.HotPieces;
import io.millrace.store.engine.object.ObjectPlace;
import io.millrace.store.engine.object.ReadPool;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.engine.object.StoreObject;
import io.millrace.store.index.Location;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Loads objects from the locations that a volume's index contains.
 *
 * <p>Checks each record and its key, because the location may be outdated.
 *
 * <p>Thread-safe. Blocks on the disk.
 */
final class ObjectLoader<H> {
    private final HeadCodec<H> codec;
    private final ByteBufAllocator allocator;
    private final ReadPool pool;
    private final HotPieces pieces;
    private final long residentBytesMax;
    private final BodyRegister<H> bodies;

    ObjectLoader(
            HeadCodec<H> codec,
            ByteBufAllocator allocator,
            ReadPool pool,
            HotPieces pieces,
            long residentBytesMax,
            BodyRegister<H> bodies) {
        this.codec = codec;
        this.allocator = allocator;
        this.pool = pool;
        this.pieces = pieces;
        this.residentBytesMax = residentBytesMax;
        this.bodies = bodies;
    }

    /**
     * Returns the object at {@code location}, retained for the caller. Returns null if its segment was reclaimed, the
     * record has another key, or required blocks of the body are missing.
     *
     * @param number number of the volume
     * @throws DamagedRecordException if the record is present but damaged
     */
    @Nullable
    StoreObject<H> load(Volume volume, int number, long location, StoreKey key) throws IOException {
        int segment = Location.segment(location);
        long tag = volume.pin(segment);
        if (tag == 0) {
            return null;
        }
        try {
            DiskRecord record = volume.reader().read(location, tag);
            try {
                RecordHeader header = record.header();
                if (!record.hasKey(key.bytes())) {
                    return null;
                }
                ObjectPlace place = new ObjectPlace(header.objectId(), number, header.sequence(), location);
                return switch (header.type()) {
                    case COMPLETE -> inOneRecord(volume, record, location, key, place);
                    case HEAD -> withBodyElsewhere(volume, record, key, place);
                    case BLOCK, TOMBSTONE -> null;
                };
            } finally {
                record.release();
            }
        } finally {
            volume.unpin(segment);
        }
    }

    /**
     * Returns the key of the object whose record is at {@code location}. Returns null if the segment was reclaimed, or
     * if the record has no head of an object.
     */
    static byte @Nullable [] keyAt(Volume volume, long location) throws IOException {
        int segment = Location.segment(location);
        long tag = volume.pin(segment);
        if (tag == 0) {
            return null;
        }
        try {
            DiskRecord record = volume.reader().readHead(segment, Location.offset(location), tag);
            try {
                RecordType type = record.header().type();
                return type == RecordType.COMPLETE || type == RecordType.HEAD ? record.key() : null;
            } finally {
                record.release();
            }
        } finally {
            volume.unpin(segment);
        }
    }

    private H decode(DiskRecord record) throws DamagedRecordException {
        try {
            return codec.decode(record.head());
        } catch (IOException | RuntimeException e) {
            throw new DamagedRecordException("head of " + record.header() + ": " + e);
        }
    }

    /** Returns the object whose head and body are both in this record. */
    private @Nullable StoreObject<H> inOneRecord(
            Volume volume, DiskRecord record, long location, StoreKey key, ObjectPlace place) throws IOException {
        H head = decode(record);
        if (record.hasContent()) {
            ByteBuf content = record.content();
            ByteBuf body = allocator.directBuffer(Math.max(1, content.readableBytes()));
            return resident(key, head, body.writeBytes(content), place);
        }
        BlockMap map = BlockMap.ofRecord(volume, place.objectId());
        return withBlocks(
                map, map.pinAndAdd(0, location), key, head, record.header().bodyLength(), place);
    }

    /** Returns the object of a head record. Its body is in another record or in blocks. */
    private @Nullable StoreObject<H> withBodyElsewhere(
            Volume volume, DiskRecord record, StoreKey key, ObjectPlace place) throws IOException {
        BodyPlace body = record.place();
        H head = decode(record);
        if (body.bodyLength() == 0) {
            return resident(key, head, allocator.directBuffer(1), place);
        }
        if (record.header().has(RecordHeader.FLAG_BODY_ELSEWHERE)) {
            BlockMap map = BlockMap.ofRecord(volume, place.objectId());
            int segment = volume.segmentWithTag(body.segment(), body.tag());
            boolean found = segment >= 0
                    && map.pinAndAdd(0, Location.pack(segment, body.offset(), Location.UNIT_BYTES, body.tag()))
                    && map.tag(0) == body.tag();
            return withBlocks(map, found, key, head, body.bodyLength(), place);
        }
        return inBlocks(volume, body, key, head, place);
    }

    /**
     * Returns the whole or partial object whose body is in blocks. Returns null if no block is stored, or if a block is
     * missing while the index is still being rebuilt.
     */
    private @Nullable StoreObject<H> inBlocks(Volume volume, BodyPlace body, StoreKey key, H head, ObjectPlace place)
            throws IOException {
        // The state must be read before the lookup. If the index is being rebuilt, a block that is missing now may be
        // found later.
        boolean opening = volume.state() == VolumeState.OPENING;
        BlockMap map = BlockMap.ofBlocks(volume, place.objectId(), body.blockBytes());
        boolean all = map.lookUp(body);
        if (all && body.isWhole()) {
            return withBlocks(map, true, key, head, body.bodyLength(), place);
        }
        if (map.count() == 0 || (!all && opening)) {
            map.unpin();
            return null;
        }
        return new FillingObject<>(bodies.open(key, place.objectId(), map, body.bodyLength()), place, head);
    }

    /**
     * Creates an object with its body in the blocks of {@code map}. Takes over the map. Reads a short body into RAM.
     * Returns null if {@code found} is false, because a block is missing.
     */
    private @Nullable StoreObject<H> withBlocks(
            BlockMap map, boolean found, StoreKey key, H head, long length, ObjectPlace place) throws IOException {
        if (!found) {
            map.unpin();
            return null;
        }
        DiskObject<H> object = new DiskObject<>(key, head, length, place, map, pool, pieces);
        if (length > residentBytesMax) {
            return object;
        }
        ByteBuf body = allocator.directBuffer(Math.max(1, (int) length));
        boolean whole = false;
        try {
            while (body.writerIndex() < length) {
                ByteBuf chunk = object.readChunk(body.writerIndex(), StoredObject.READ_LENGTH_MAX);
                body.writeBytes(chunk);
                chunk.release();
            }
            whole = true;
            return resident(key, head, body, place);
        } finally {
            object.release();
            if (!whole) {
                body.release();
            }
        }
    }

    private ResidentObject<H> resident(StoreKey key, H head, ByteBuf body, ObjectPlace place) {
        return new ResidentObject<>(key, head, codec.heapBytes(head), body, place);
    }

    /**
     * Returns the record of the key's current object on the volume, without the record's content. Returns null if the
     * key does not hold the object with this id. The caller releases the record.
     */
    @Nullable
    DiskRecord currentHead(Volume volume, StoreKey key, long objectId) throws IOException {
        long location = volume.find(key.hashHigh(), key.hashLow());
        int segment = Location.segment(location);
        long tag = location == Location.NONE ? 0 : volume.pin(segment);
        if (tag == 0) {
            return null;
        }
        try {
            DiskRecord record = volume.reader().readHead(segment, Location.offset(location), tag);
            if (record.header().objectId() == objectId && record.hasKey(key.bytes())) {
                return record;
            }
            record.release();
            return null;
        } finally {
            volume.unpin(segment);
        }
    }

    /**
     * Returns the place of the body of the key's current object on the volume. Returns null if the key does not hold
     * the object with this id.
     */
    @Nullable
    BodyPlace bodyPlace(Volume volume, StoreKey key, long objectId) throws IOException {
        DiskRecord record = currentHead(volume, key, objectId);
        if (record == null) {
            return null;
        }
        try {
            RecordHeader header = record.header();
            if (header.type() != RecordType.COMPLETE) {
                return record.place();
            }
            long location = volume.find(key.hashHigh(), key.hashLow());
            return BodyPlace.inRecord(
                    header.bodyLength(), Location.segment(location), Location.offset(location), header.tag());
        } finally {
            record.release();
        }
    }
}
