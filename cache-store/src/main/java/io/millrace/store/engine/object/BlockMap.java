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
 * Which blocks of one body are on its volume. Of the first {@link StoredObject#PINNED_BLOCKS_MAX} it knows the place and
 * holds a pin on the segment; the others are a bit each, and looked up in the index when they are read.
 *
 * <p>Built by one thread or under its owner's lock; {@link #read} may be called from any thread.
 */
public final class BlockMap {
    /** Blocks behind the pinned ones that are looked up to tell whether all of a long range is there. */
    private static final int SAMPLES = 1024;

    private static final int PINNED = StoredObject.PINNED_BLOCKS_MAX;
    private static final int READ_TRIES = 3;

    private final Volume volume;
    private final long objectId;
    private final int blockBytes;
    /** Whether the body is the content of one COMPLETE record, here block 0. */
    private final boolean single;
    /** Tag of each pinned segment as of when it was pinned: the volume forgets it when it gives the segment up. */
    private final Map<Integer, Long> tags = new HashMap<>();

    private final BitSet stored = new BitSet();
    private int count;
    /** Of the pinned blocks. */
    private long[] locations = new long[1];

    private BlockMap(Volume volume, long objectId, int blockBytes, boolean single) {
        this.volume = volume;
        this.objectId = objectId;
        this.blockBytes = blockBytes;
        this.single = single;
    }

    /** A body in blocks, none known yet. */
    public static BlockMap ofBlocks(Volume volume, long objectId, int blockBytes) {
        return new BlockMap(volume, objectId, blockBytes, false);
    }

    /** A body in one record. */
    public static BlockMap ofRecord(Volume volume, long objectId) {
        return new BlockMap(volume, objectId, Integer.MAX_VALUE, true);
    }

    /** The volume with the blocks. */
    public Volume volume() {
        return volume;
    }

    /** Bytes of a whole block. */
    public int blockBytes() {
        return blockBytes;
    }

    /** Whether the blocks have numbers, so that one of them can be lost. */
    boolean isInBlocks() {
        return !single;
    }

    /**
     * Looks for the blocks that count.
     *
     * @return whether each of them was found, as far as it was looked for
     */
    public boolean lookUp(BodyPlace place) {
        int blocks = place.blockCount();
        boolean all = true;
        for (int block = 0; block < Math.min(blocks, PINNED); block++) {
            if (place.has(block)) {
                long at = find(block);
                all &= at != Location.NONE && pinAndAdd(block, at);
            }
        }
        for (int block = PINNED; block < blocks; block++) {
            if (place.has(block)) {
                add(block);
            }
        }
        return sample(PINNED, blocks) && all;
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
     * Looks up a sample of the blocks in {@code [from, to)} that are said to be stored and not pinned. Forgets those
     * that are gone; around one that is, each is looked up, since the ring loses them by the segment.
     *
     * @return whether none was gone
     */
    public boolean sample(int from, int to) {
        int first = Math.max(from, PINNED);
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

    /** Remembers a block and pins its segment; false when the segment was given up meanwhile. */
    public boolean pinAndAdd(int block, long location) {
        if (block >= PINNED) {
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
            locations = Arrays.copyOf(locations, Math.min(PINNED, Math.max(block + 1, locations.length * 2)));
        }
        locations[block] = location;
        add(block);
        return true;
    }

    /** Forgets a block; false when it was not known. */
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

    /** Whether the block is on disk, as far as known. */
    public boolean has(int block) {
        return stored.get(block);
    }

    /** The first block from {@code block} on that is not on disk. */
    public int firstMissing(int block) {
        return stored.nextClearBit(block);
    }

    /** Number of blocks on disk, as far as known. */
    public int count() {
        return count;
    }

    /** A copy of which blocks are on disk. */
    public BitSet stored() {
        return (BitSet) stored.clone();
    }

    /** Where a pinned block lies, {@link Location#NONE} for one that is to be looked up. */
    public long location(int block) {
        return block < locations.length ? locations[block] : Location.NONE;
    }

    /** Tag of the segment in which a pinned block lies. */
    public long tag(int block) {
        return tags.getOrDefault(Location.segment(location(block)), 0L);
    }

    /**
     * Part of a block; the caller releases it. Blocks on the disk.
     *
     * @param location as {@link #location} told it, with its {@link #tag}
     * @throws BlockReclaimedException when it was to be looked up and is not there
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
        throw new BlockReclaimedException("block " + block + " of object " + Long.toHexString(objectId) + " is gone");
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

    /** Takes a block out of the index. On the volume's thread. */
    public void drop(int block) {
        volume.dropBlock(DiskKey.blockHashHigh(objectId), DiskKey.blockHashLow(objectId, block), find(block));
    }

    /**
     * A record of the body was found damaged: the block goes out of the index, or the whole object. Any thread.
     *
     * @param location where the block was read, {@link Location#NONE} when it was looked up
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

    /** Gives up the pins. */
    public void unpin() {
        for (int segment : tags.keySet()) {
            volume.unpin(segment);
        }
        tags.clear();
    }
}
