package io.millrace.store.engine;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.engine.filling.BodyRegister;
import io.millrace.store.engine.filling.FillRegister;
import io.millrace.store.engine.filling.FillTarget;
import io.millrace.store.engine.filling.FillingBody;
import io.millrace.store.engine.filling.FillingObject;
import io.millrace.store.engine.object.BlockMap;
import io.millrace.store.engine.object.ObjectPlace;
import io.millrace.store.engine.object.StoreObject;
import io.millrace.store.engine.volume.VolumeGroup;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Creates the writers of objects.
 *
 * <p>Chooses the volume, the block length, and the maximum body length of each writer.
 *
 * <p>Thread-safe.
 */
final class WriterFactory<H> {
    /**
     * Number of low bits of an object id. They count the objects since the store was opened; the high bits hold the
     * number of opens. Newer objects therefore have greater ids.
     */
    private static final int OBJECT_ID_BITS = 40;

    /**
     * Divisor for the maximum body length: one object takes at most half of its volume. Callers may apply a lower limit
     * with {@link ObjectWriter#bytesMax}.
     */
    private static final int OBJECT_VOLUME_DIVISOR = 2;

    private final StoreConfig config;
    private final ObjectChanges<H> changes;
    private final VolumeGroup volumes;
    private final BodyRegister<H> bodies;
    private final AtomicLong objectIds = new AtomicLong();

    WriterFactory(StoreConfig config, ObjectChanges<H> changes, VolumeGroup volumes, BodyRegister<H> bodies) {
        this.config = config;
        this.changes = changes;
        this.volumes = volumes;
        this.bodies = bodies;
    }

    /**
     * Makes new object ids greater than those from before the volumes were opened. Call after each open of the volumes.
     */
    void storeOpened() {
        objectIds.accumulateAndGet(volumes.openCount() << OBJECT_ID_BITS, Math::max);
    }

    /**
     * Creates a writer of a new object.
     *
     * @param bodyBytesMin body length that is accepted even on a small volume
     */
    ObjectWriter<H> create(StoreKey key, String volumeName, long bodyBytesMin) {
        boolean detached = changes.isSuspended() || changes.isClosed();
        int targetVolume = detached ? StoreObject.NO_VOLUME : volumes.targetVolume(key, volumeName);
        Volume volume = volumes.working(targetVolume);
        ObjectPlace place = ObjectPlace.unwritten(objectIds.incrementAndGet(), targetVolume);
        int blockBytes;
        long bytesMax;
        if (changes.isClosed() || (changes.isSuspended() && volumes.isConfigured())) {
            blockBytes = config.blockBytes();
            // The writer accepts no body.
            bytesMax = -1;
        } else if (volume == null) {
            bytesMax = Math.min(config.ramObjectBytesMax(), config.objectBytesMax());
            blockBytes = (int) Math.max(1, bytesMax);
        } else {
            blockBytes = Math.min(config.blockBytes(), Integer.highestOneBit(volume.recordLengthMax() / 2));
            bytesMax = Math.max(bodyBytesMin, bodyBytesMax(volume, blockBytes));
        }
        FillRegister.Ticket ticket = changes.fills().begin(key, place.objectId());
        FillTarget target = new FillTarget(key, ticket, volume, blockBytes, bytesMax);
        return new ShortBodyWriter<>(this, changes, bodies.allocator(), target, place);
    }

    /**
     * Creates the writer of a new object for bodies of any length. The object's body removes the target's ticket (its
     * entry in the register of fills) after its last reference was released.
     */
    FillWriter<H> fill(FillTarget target, ObjectPlace place) {
        Volume volume = target.volume();
        BlockMap blocks = volume == null ? null : BlockMap.ofBlocks(volume, place.objectId(), target.blockBytes());
        FillingBody<H> body = bodies.create(target.key(), target.ticket(), blocks, target.blockBytes());
        return new FillWriter<>(changes, target, new FillingObject<>(body, place, null), false);
    }

    private long bodyBytesMax(Volume volume, int blockBytes) {
        // The head record contains a bitmap of the blocks, whose length limits the number of blocks.
        long mappableBytes = (long) blockBytes * BodyPlace.blocksMax(volume.recordLengthMax());
        return Math.min(mappableBytes, Math.min(config.objectBytesMax(), volume.bytesMax() / OBJECT_VOLUME_DIVISOR));
    }

    /** Creates a writer of the missing blocks of an object. */
    ObjectWriter<H> extend(StoredObject<H> object) {
        if (!(object instanceof StoreObject<H> given)) {
            throw new IllegalArgumentException("not an object of this store: " + object);
        }
        if (!(given instanceof FillingObject<H> filling)) {
            return new WholeObjectWriter<>(given);
        }
        FillingBody<H> body = filling.body();
        Volume volume = body.volume();
        long bytesMax = body.blockBytes();
        if (changes.isSuspended() || changes.isClosed() || (volume != null && !volume.isWorking())) {
            bytesMax = -1;
        } else if (volume != null) {
            bytesMax = Math.max(body.length(), bodyBytesMax(volume, body.blockBytes()));
        }
        FillTarget target = new FillTarget(filling.key(), body.ticket(), volume, body.blockBytes(), bytesMax);
        filling.retain();
        return new FillWriter<>(changes, target, filling, true);
    }
}
