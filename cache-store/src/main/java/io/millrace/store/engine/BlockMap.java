package io.millrace.store.engine;

import io.millrace.store.StoreKey;
import io.millrace.store.disk.ContentRange;
import io.millrace.store.disk.DiskKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.index.Location;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Where the blocks of one body lie on its volume, with a pin on every segment among them.
 *
 * <p>Built by one thread or under its owner's lock; {@link #read} may be called from any thread for a block that is
 * there.
 */
final class BlockMap {
    private final Volume volume;
    private final long objectId;
    private final int blockBytes;
    /** Whether the body is the content of one COMPLETE record, here block 0. */
    private final boolean single;
    /** Tag of each pinned segment as of when it was pinned: the volume forgets it when it gives the segment up. */
    private final Map<Integer, Long> tags = new HashMap<>();

    private long[] locations;

    private BlockMap(Volume volume, long objectId, int blockBytes, boolean single) {
        this.volume = volume;
        this.objectId = objectId;
        this.blockBytes = blockBytes;
        this.single = single;
        this.locations = new long[1];
    }

    /** A body in blocks, none known yet. */
    static BlockMap ofBlocks(Volume volume, long objectId, int blockBytes) {
        return new BlockMap(volume, objectId, blockBytes, false);
    }

    /** A body in one record. */
    static BlockMap ofRecord(Volume volume, long objectId) {
        return new BlockMap(volume, objectId, Integer.MAX_VALUE, true);
    }

    int blockBytes() {
        return blockBytes;
    }

    /** Pins the block's segment and remembers the block; false when the segment was given up meanwhile. */
    boolean pinAndAdd(int block, long location) {
        int segment = Location.segment(location);
        if (!tags.containsKey(segment)) {
            long tag = volume.pin(segment);
            if (tag == 0) {
                return false;
            }
            tags.put(segment, tag);
        }
        if ((tags.getOrDefault(segment, 0L) & 0xFF) != Location.tag(location)) {
            return false;
        }
        set(block, location);
        return true;
    }

    private void set(int block, long location) {
        if (block >= locations.length) {
            locations = Arrays.copyOf(locations, Math.max(block + 1, locations.length * 2));
        }
        locations[block] = location;
    }

    /** Whether the block is on disk. */
    boolean has(int block) {
        return block < locations.length && locations[block] != Location.NONE;
    }

    /** Where the block lies. */
    long location(int block) {
        return block < locations.length ? locations[block] : Location.NONE;
    }

    /** Tag of the segment in which the block lies. */
    long tag(int block) {
        return tags.getOrDefault(Location.segment(location(block)), 0L);
    }

    /** Part of a block at a location told before; the caller releases it. Blocks on the disk. */
    ByteBuf read(int block, long location, long tag, int from, int length) throws IOException {
        ContentRange range = new ContentRange(objectId, single ? ContentRange.NO_BLOCK : block, from, length);
        if (!single && from == 0) {
            volume.hit(DiskKey.blockHashHigh(objectId), DiskKey.blockHashLow(objectId, block));
        }
        try {
            return volume.reader().readContent(Location.segment(location), Location.offset(location), tag, range);
        } catch (IOException e) {
            throw volume.failed(e);
        }
    }

    /** Takes the blocks out of the index. On the volume's thread. */
    void drop() {
        long hashHigh = DiskKey.blockHashHigh(objectId);
        for (int block = 0; block < locations.length; block++) {
            if (locations[block] != Location.NONE) {
                volume.dropBlock(hashHigh, DiskKey.blockHashLow(objectId, block), locations[block]);
            }
        }
    }

    /** Takes the object whose body this is out of the index, unless it has another record by now. Any thread. */
    void forget(StoreKey key, long location) {
        volume.execute(() -> volume.drop(new DiskKey(key.bytes(), key.hashHigh(), key.hashLow()), location));
    }

    /** Gives up the pins. */
    void unpin() {
        for (int segment : tags.keySet()) {
            volume.unpin(segment);
        }
        tags.clear();
    }
}
