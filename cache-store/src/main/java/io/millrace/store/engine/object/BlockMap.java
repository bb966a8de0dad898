package io.millrace.store.engine.object;

import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.ContentRange;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.index.Location;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The set of blocks of one body that are on its volume. For the first {@link StoredObject#PINNED_BLOCKS_MAX} blocks,
 * the map keeps the location and pins the segment, so that the segment is not overwritten. For each later block it
 * keeps only one bit; such a block is looked up in the index when it is read.
 *
 * <p>Built by one thread or under its owner's lock; {@link #read} may be called from any thread.
 */
public final class BlockMap {
    /** Maximum number of unpinned blocks that {@link #sample} looks up before it finds one missing. */
    private static final int SAMPLES = 1024;

    private static final int PINNED_BLOCKS = StoredObject.PINNED_BLOCKS_MAX;
    private static final int READ_TRIES = 3;

    private final Volume volume;
    private final long objectId;
    private final int blockBytes;
    /**
     * True if the body is in one COMPLETE record (head and body together). The map then treats this record as block 0.
     */
    private final boolean single;
    /**
     * Tag of each pinned segment at the time of the pin. Kept here because the volume discards the tag when it reclaims
     * the segment.
     */
    private final Map<Integer, Long> tags = new HashMap<>();

    private final BitSet stored = new BitSet();
    private int count;
    /** Locations of the pinned blocks. */
    private long[] locations = new long[1];

    private BlockMap(Volume volume, long objectId, int blockBytes, boolean single) {
        this.volume = volume;
        this.objectId = objectId;
        this.blockBytes = blockBytes;
        this.single = single;
    }

    /** Creates the map of a body in blocks, initially without blocks. */
    public static BlockMap ofBlocks(Volume volume, long objectId, int blockBytes) {
        return new BlockMap(volume, objectId, blockBytes, false);
    }

    /** Creates the map of a body in one record. */
    public static BlockMap ofRecord(Volume volume, long objectId) {
        return new BlockMap(volume, objectId, Integer.MAX_VALUE, true);
    }

    /** Returns the volume of the blocks. */
    public Volume volume() {
        return volume;
    }

    /** Returns the size of a whole block in bytes. */
    public int blockBytes() {
        return blockBytes;
    }

    /** Returns true if the body is stored in numbered blocks, so that single blocks can be lost. */
    boolean isInBlocks() {
        return !single;
    }

    /**
     * Looks up the blocks listed in {@code place}.
     *
     * @return true if each block that was looked up was found
     */
    public boolean lookUp(BodyPlace place) {
        int blocks = place.blockCount();
        boolean all = true;
        for (int block = 0; block < Math.min(blocks, PINNED_BLOCKS); block++) {
            if (place.has(block)) {
                long at = find(block);
                all &= at != Location.NONE && pinAndAdd(block, at);
            }
        }
        for (int block = PINNED_BLOCKS; block < blocks; block++) {
            if (place.has(block)) {
                add(block);
            }
        }
        return sample(PINNED_BLOCKS, blocks) && all;
    }

    private long find(int block) {
        return volume.find(DiskKey.blockHashHigh(objectId), DiskKey.blockHashLow(objectId, block));
    }

    private void add(int block) {
        if (!stored.get(block)) {
            stored.set(block);
            count++;
        }
    }

    /**
     * Looks up a sample of the unpinned stored blocks in {@code [from, to)} and removes the missing ones. Around a
     * missing block every block is looked up, because adjacent blocks are often in the same segment, and the reclaimer
     * removes whole segments.
     *
     * @return true if no block was missing
     */
    public boolean sample(int from, int to) {
        int first = Math.max(from, PINNED_BLOCKS);
        int step = Math.max(1, (to - first + SAMPLES - 1) / SAMPLES);
        boolean all = true;
        for (int block = stored.nextSetBit(first); block >= 0 && block < to; ) {
            if (find(block) == Location.NONE && volume.isWorking()) {
                all = false;
                for (int near = Math.max(first, block - step + 1); near < Math.min(to, block + step); near++) {
                    if (stored.get(near) && find(near) == Location.NONE) {
                        remove(near);
                    }
                }
            }
            block = block > Integer.MAX_VALUE - step ? -1 : stored.nextSetBit(block + step);
        }
        return all;
    }

    /** Adds a block and pins its segment; false if the segment was reclaimed in the meantime. */
    public boolean pinAndAdd(int block, long location) {
        if (block >= PINNED_BLOCKS) {
            add(block);
            return true;
        }
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
        if (block >= locations.length) {
            locations = Arrays.copyOf(locations, Math.min(PINNED_BLOCKS, Math.max(block + 1, locations.length * 2)));
        }
        locations[block] = location;
        add(block);
        return true;
    }

    /** Removes a block; false if it was not in the map. */
    public boolean remove(int block) {
        if (!stored.get(block)) {
            return false;
        }
        stored.clear(block);
        count--;
        if (block < locations.length) {
            locations[block] = Location.NONE;
        }
        return true;
    }

    /** Returns true if the block is on disk, as far as known. */
    public boolean has(int block) {
        return stored.get(block);
    }

    /** Returns the first block from {@code block} on that is not on disk. */
    public int firstMissing(int block) {
        return stored.nextClearBit(block);
    }

    /** Returns the number of blocks on disk, as far as known. */
    public int count() {
        return count;
    }

    /** Returns a copy of the set of blocks on disk. */
    public BitSet stored() {
        return (BitSet) stored.clone();
    }

    /** Returns the location of a pinned block, {@link Location#NONE} for a block that must be looked up. */
    public long location(int block) {
        return block < locations.length ? locations[block] : Location.NONE;
    }

    /** Returns the tag of the segment of a pinned block. */
    public long tag(int block) {
        return tags.getOrDefault(Location.segment(location(block)), 0L);
    }

    /**
     * Reads part of a block; the caller releases it. Waits for the disk.
     *
     * @param location the block's {@link #location}, with its {@link #tag}
     * @throws BlockReclaimedException if the block had to be looked up and was not found
     */
    public ByteBuf read(int block, long location, long tag, int from, int length) throws IOException {
        if (location != Location.NONE) {
            return readAt(block, location, tag, from, length);
        }
        for (int tries = 0; tries < READ_TRIES; tries++) {
            long at = find(block);
            int segment = Location.segment(at);
            long pinned = at == Location.NONE ? 0 : volume.pin(segment);
            if (pinned == 0) {
                continue;
            }
            try {
                if ((pinned & 0xFF) == Location.tag(at)) {
                    return readAt(block, at, pinned, from, length);
                }
            } finally {
                volume.unpin(segment);
            }
        }
        throw new BlockReclaimedException(
                "block " + block + " of object " + Long.toHexString(objectId) + " was removed");
    }

    private ByteBuf readAt(int block, long location, long tag, int from, int length) throws IOException {
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

    /** Removes a block from the index. Called on the volume's thread. */
    public void drop(int block) {
        volume.dropBlock(DiskKey.blockHashHigh(objectId), DiskKey.blockHashLow(objectId, block), find(block));
    }

    /**
     * Removes a damaged record from the index. Removes the block, or the whole object if its body is in one record. May
     * be called from any thread.
     *
     * @param location location at which the block was read, {@link Location#NONE} if it was looked up
     */
    public void dropDamaged(StoreKey key, long headLocation, int block, long location) {
        volume.execute(() -> {
            if (single) {
                volume.drop(ObjectAppender.diskKey(key), headLocation);
            } else if (location == Location.NONE || location == find(block)) {
                drop(block);
            }
        });
    }

    /** Releases the pins. */
    public void unpin() {
        for (int segment : tags.keySet()) {
            volume.unpin(segment);
        }
        tags.clear();
    }
}
