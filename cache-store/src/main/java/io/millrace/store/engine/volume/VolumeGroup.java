package io.millrace.store.engine.volume;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.VolumeConfig;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeListener;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.disk.segment.SegmentPins;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.object.StoreObject;
import io.millrace.store.io.FileIo;
import io.millrace.store.recover.JoiningVolume;
import io.millrace.store.recover.OpenedVolume;
import io.millrace.store.recover.VolumeSet;
import io.millrace.store.recover.VolumeSpec;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The volumes of a store. Selects the volume of a new object, and the volumes that may hold a key.
 *
 * <p>The target volume of a key is the one that receives its new objects. Rendezvous hashing, weighted with the
 * volumes' sizes, selects it among the working volumes. If a volume is lost, only its keys get another target volume. A
 * lookup searches the index of every volume. Therefore it also finds objects that were stored under another volume name
 * or with another set of volumes.
 *
 * <p>Thread-safe; {@link #open()}, {@link #reopen} and changes of a slot are confined to the thread that opens the
 * store or holds its life cycle lock.
 */
public final class VolumeGroup {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeGroup.class);

    private final FileIo io;
    private final StoreConfig config;
    private final ByteBufAllocator allocator;
    private final VolumeListener listener;
    private final VolumePolicies policies;
    private final StoreJournal journal;
    /** Held while the generation and the members change. */
    private final ReentrantLock membership = new ReentrantLock();

    /**
     * Old instances of volumes that were opened again after a handover. They stay open until their last reader ends.
     */
    private final List<Volume> handedOver = new CopyOnWriteArrayList<>();

    private volatile Slot[] slots = {};
    private volatile UUID storeId = UUID.randomUUID();
    /** Increased each time a volume is lost. Each member stores it in its superblock. */
    private volatile long generation;

    private long openCount = 1;

    /**
     * A configured volume that is open, failed to open, or is offline. Exactly one of {@code volume}, {@code failure}
     * and {@code offlineVolume} is set.
     */
    public record Slot(
            int number,
            VolumeConfig config,
            @Nullable Volume volume,
            @Nullable IOException failure,
            @Nullable OfflineVolume offlineVolume) {
        /** Returns the bytes for segments; 0 while the size of a whole device is not known. */
        public long sizeBytes() {
            long configured = config.sizeBytes();
            return configured != 0 || volume == null
                    ? configured
                    : volume.superblock().fileBytes() - Superblock.SEGMENTS_AT;
        }

        Slot with(Volume returned) {
            return new Slot(number, config, returned, null, null);
        }

        /** Returns this slot with its volume offline. */
        public Slot offline(OfflineVolume offlineRecord) {
            return new Slot(number, config, null, null, offlineRecord);
        }
    }

    /** Creates the volumes of a configuration without opening them. */
    public VolumeGroup(
            FileIo io, StoreConfig config, ByteBufAllocator allocator, StoreJournal journal, VolumeListener listener) {
        this.io = io;
        this.config = config;
        this.allocator = allocator;
        this.journal = journal;
        this.listener = listener;
        this.policies = new VolumePolicies(
                config.diskAdmission(), config.pinsHonoured(), config.volumes().size());
    }

    /** Opens the configured volumes and starts them. */
    public void open() throws IOException {
        if (config.volumes().isEmpty()) {
            return;
        }
        VolumeSet set = VolumeSet.open(io, specs(), allocator, listener);
        storeId = set.storeId();
        journal.readAll(set.volumes());
        startAll(set);
    }

    /**
     * Opens the volumes again after {@link #release} handed them over to another process.
     *
     * @return true if no other store opened them in the meantime
     */
    public boolean reopen() throws IOException {
        VolumeSet set = VolumeSet.open(io, specs(), allocator, listener);
        endReads();
        for (Slot slot : slots) {
            if (slot.volume() != null) {
                handedOver.add(slot.volume());
            }
        }
        boolean isUninterrupted =
                set.openCount() == openCount + 1 && set.storeId().equals(storeId);
        if (!set.storeId().equals(storeId)) {
            for (OpenedVolume opened : set.volumes()) {
                if (opened.volume() != null) {
                    opened.volume().start();
                    opened.volume().close();
                }
            }
            throw new IOException("the volumes now belong to another store");
        }
        Slot[] before = slots;
        journal.readAll(set.volumes());
        startAll(set);
        journal.rewriteCopies();
        for (int i = 0; i < before.length; i++) {
            deleteReaderList(before[i].volume(), slots[i].volume());
        }
        return isUninterrupted;
    }

    /**
     * Deletes the reader list of an earlier instance of a volume, if the new instance has taken over its pins. A reader
     * list is a file that names the segments that the next owner of the volume must not overwrite yet.
     */
    private static void deleteReaderList(@Nullable Volume earlier, @Nullable Volume current) throws IOException {
        if (earlier != null && current != null && earlier.pins() == current.pins()) {
            earlier.deleteReaderList();
        }
    }

    private void startAll(VolumeSet set) {
        openCount = set.openCount();
        generation = set.generation();
        Slot[] opened = new Slot[config.volumes().size()];
        for (int i = 0; i < opened.length; i++) {
            OpenedVolume result = set.volumes().get(i);
            opened[i] = new Slot(i, config.volumes().get(i), result.volume(), result.failure(), null);
        }
        slots = opened;
        for (Slot slot : opened) {
            if (slot.volume() != null) {
                policies.attach(slot.number(), slot.volume());
                slot.volume().start();
            }
        }
    }

    private List<VolumeSpec> specs() {
        List<VolumeSpec> specs = new ArrayList<>();
        for (int i = 0; i < config.volumes().size(); i++) {
            Volume before = i < slots.length ? slots[i].volume() : null;
            specs.add(spec(config.volumes().get(i), before == null ? null : before.pins()));
        }
        return specs;
    }

    private VolumeSpec spec(VolumeConfig volume, @Nullable SegmentPins pins) {
        Path path = volume.path().toAbsolutePath();
        Path index = volume.indexPath();
        VolumeSpec.DirectWrites directWrites =
                switch (volume.directWrites()) {
                    case AUTO -> VolumeSpec.DirectWrites.AUTO;
                    case ON -> VolumeSpec.DirectWrites.ON;
                    case OFF -> VolumeSpec.DirectWrites.OFF;
                };
        return index == null
                ? new VolumeSpec(path, null, volume.sizeBytes(), config.segmentBytes(), directWrites, pins)
                : new VolumeSpec(
                        index.toAbsolutePath(),
                        new VolumeSpec.Device(path, volume.format()),
                        volume.sizeBytes(),
                        config.segmentBytes(),
                        directWrites,
                        pins);
    }

    /** Returns the seed of the store's key hash. */
    public long hashSeed() {
        return storeId.getLeastSignificantBits() ^ storeId.getMostSignificantBits();
    }

    /** Returns the number of times the store was opened; part of object ids. */
    public long openCount() {
        return openCount;
    }

    /** Returns true if any volume is configured. */
    public boolean isConfigured() {
        return !config.volumes().isEmpty();
    }

    /** Returns all slots by number. The array is shared and never changed. */
    public Slot[] slots() {
        return slots;
    }

    /** Returns the volume with that number if it works now. */
    @Nullable
    public Volume working(int number) {
        Slot[] current = slots;
        if (number < 0 || number >= current.length) {
            return null;
        }
        Volume volume = current[number].volume();
        return volume != null && volume.isWorking() ? volume : null;
    }

    /** Returns the volume with that number if records can be read from it now. */
    @Nullable
    public Volume readable(int number) {
        Slot[] current = slots;
        Volume volume = number < 0 || number >= current.length ? null : current[number].volume();
        return volume != null && volume.state().isReadable() ? volume : null;
    }

    /**
     * Returns the number of the volume for a new object of the key, {@link StoreObject#NO_VOLUME} if none works. If no
     * volume with the name works, a volume with the default name is used. Volumes with any other name are reserved for
     * that name.
     */
    public int targetVolume(StoreKey key, String name) {
        int target = targetAmong(key, name);
        return target >= 0 || name.equals(VolumeConfig.DEFAULT_NAME)
                ? target
                : targetAmong(key, VolumeConfig.DEFAULT_NAME);
    }

    private int targetAmong(StoreKey key, String name) {
        Slot[] current = slots;
        int best = StoreObject.NO_VOLUME;
        double bestScore = 0;
        for (int i = 0; i < current.length; i++) {
            if (!current[i].config().name().equals(name) || working(i) == null) {
                continue;
            }
            double score = current.length == 1 ? 1 : score(key, current[i]);
            if (best < 0 || score > bestScore) {
                best = i;
                bestScore = score;
            }
        }
        return best;
    }

    /**
     * Returns the share of new objects that the slot's volume currently receives, 0 to 1, among the volumes of its
     * name.
     */
    public double placement(Slot slot) {
        double bytesOfName = 0;
        double bytesOfSlot = 0;
        for (Slot other : slots) {
            if (other.config().name().equals(slot.config().name()) && working(other.number()) != null) {
                bytesOfName += other.sizeBytes();
                bytesOfSlot += other.number() == slot.number() ? other.sizeBytes() : 0;
            }
        }
        return bytesOfName == 0 ? 0 : bytesOfSlot / bytesOfName;
    }

    /** Weighted rendezvous hashing: size / -ln(u), with u in (0, 1) from the hash of key and volume. */
    private static double score(StoreKey key, Slot slot) {
        Volume volume = slot.volume();
        UUID id = volume == null ? new UUID(0, 0) : volume.id();
        long mixed = (key.hashHigh() ^ id.getMostSignificantBits()) * 0x9E37_79B9_7F4A_7C15L;
        mixed = (mixed ^ (mixed >>> 32) ^ id.getLeastSignificantBits()) * 0xD6E8_FEB8_6659_FD93L;
        mixed ^= mixed >>> 32;
        double unit = ((mixed >>> 11) + 0.5) * 0x1.0p-53;
        return slot.sizeBytes() / -Math.log(unit);
    }

    /** Returns the admission and retention policies of the volumes. */
    public VolumePolicies policies() {
        return policies;
    }

    /** Counts a request for the key. */
    public void recordRequest(StoreKey key) {
        policies.recordRequest(key);
    }

    /** Returns true if the index of any volume may contain the key. */
    public boolean mayHold(StoreKey key) {
        for (Slot slot : slots) {
            if (slot.volume() != null && slot.volume().mayHold(key.hashHigh(), key.hashLow())) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if an index is being rebuilt, so that a lookup may miss stored objects. */
    public boolean isOpening() {
        return openingCount() > 0;
    }

    /** Returns the number of volumes whose index is being rebuilt. */
    public int openingCount() {
        int count = 0;
        for (Slot slot : slots) {
            if (slot.volume() != null && slot.volume().state() == VolumeState.OPENING) {
                count++;
            }
        }
        return count;
    }

    /**
     * Returns true if the key's target volume is another one of the same name whose index is being rebuilt. The target
     * may then hold a newer object of the key, if a power failure lost the tombstone (the record of a removal) on this
     * volume.
     */
    public boolean isTargetRebuilding(StoreKey key, Volume volume) {
        for (Slot slot : slots) {
            if (slot.volume() == volume) {
                int target = targetAmong(key, slot.config().name());
                Volume other = target < 0 ? null : slots[target].volume();
                return other != null && other != volume && other.state() == VolumeState.OPENING;
            }
        }
        return false;
    }

    /**
     * Records the loss of a member in the superblocks of the other volumes. When the lost volume returns, this record
     * shows that it has missed removals.
     */
    public void recordMemberLoss(Volume volume) {
        membership.lock();
        try {
            long next = generation + 1;
            generation = next;
            queueMembership(volume, null);
        } finally {
            membership.unlock();
        }
    }

    /**
     * Queues a write of the generation (increased with each lost volume) and of the list of members on every working
     * volume. The list excludes a leaving volume and includes a joining volume.
     */
    private void queueMembership(@Nullable Volume leaving, @Nullable Volume joining) {
        List<UUID> members = new ArrayList<>();
        List<Volume> working = new ArrayList<>();
        for (Slot slot : slots) {
            Volume volume = slot.volume();
            if (volume != null && volume != leaving && volume.isWorking()) {
                members.add(volume.id());
                working.add(volume);
            }
        }
        if (joining != null) {
            members.add(joining.id());
        }
        long newGeneration = generation;
        List<UUID> all = List.copyOf(members);
        for (Volume volume : working) {
            volume.execute(() -> volume.membership(newGeneration, all));
        }
    }

    /**
     * Opens an offline volume and starts it; it is not a member yet. Call with the life cycle lock held. Blocks.
     *
     * @param superblock the superblock at the time the volume went offline, null to start empty
     */
    public JoiningVolume open(Slot slot, @Nullable Superblock superblock) throws IOException {
        JoiningVolume.Store store = new JoiningVolume.Store(storeId, generation, openCount);
        JoiningVolume returned =
                JoiningVolume.open(io, spec(slot.config(), null), store, superblock, allocator, listener);
        policies.attach(slot.number(), returned.volume());
        returned.volume().start();
        boolean ready = false;
        try {
            journal.addJoining(returned.volume());
            returned.volume().drain();
            if (journal.isBehind(returned.volume())) {
                throw new IOException(slot.config().path() + ": the journal of the volume cannot be written");
            }
            ready = true;
        } finally {
            if (!ready) {
                returned.volume().close();
            }
        }
        return returned;
    }

    /**
     * Records a joining volume in the superblocks of the other members, so that they know if it is missing at the next
     * start.
     */
    void announce(Volume volume) {
        membership.lock();
        try {
            queueMembership(null, volume);
        } finally {
            membership.unlock();
        }
    }

    /** Makes an announced volume a member. */
    void enter(Slot slot) {
        membership.lock();
        try {
            put(slot);
            queueMembership(null, null);
        } finally {
            membership.unlock();
        }
    }

    /** Waits until all queued tasks of the working volumes are done. */
    void drain() {
        for (Slot slot : slots) {
            Volume volume = slot.volume();
            if (volume != null && volume.isWorking()) {
                try {
                    volume.drain();
                } catch (IOException e) {
                    LOG.info("{}: the queued tasks could not be completed: {}", volume.directory(), e.toString());
                }
            }
        }
    }

    /** Replaces the slot with that number. Call with the life cycle lock held. */
    public void put(Slot slot) {
        Slot[] next = slots.clone();
        next[slot.number()] = slot;
        slots = next;
    }

    /**
     * Records a change of the key that one volume could not accept. Offline volumes apply the change when they return.
     * If another volume has taken the slot in the meantime, that volume removes its object of the key.
     *
     * @param number number of the volume that did not accept the change
     * @param refusing the volume that did not accept the change; null if none worked at that number
     */
    public void recordMissedChange(StoreKey key, int number, @Nullable Volume refusing) {
        for (int i = 0; i < slots.length; i++) {
            recordMissedChange(key, i, i == number ? refusing : slots[i].volume(), volume -> removeFrom(volume, key));
        }
    }

    /**
     * Records a change of the key for the offline volumes. Volumes that have returned since {@code seen} was read
     * remove their object of the key.
     *
     * @param seen the slots at the time the working volumes received the change
     */
    public void recordMissedChange(StoreKey key, Slot[] seen) {
        recordMissedChange(key, seen, volume -> removeFrom(volume, key));
    }

    /**
     * Returns true if all volumes are the same as in {@code seen} and none is offline. Then {@link
     * #recordMissedChange(StoreKey, Slot[], Predicate)} has no effect.
     */
    public boolean isUnchanged(Slot[] seen) {
        if (slots != seen) {
            return false;
        }
        for (Slot slot : seen) {
            if (slot.offlineVolume() != null) {
                return false;
            }
        }
        return true;
    }

    private static boolean removeFrom(Volume volume, StoreKey key) {
        return volume.executeRemoval(() -> volume.removeWithRetry(ObjectAppender.diskKey(key)));
    }

    /**
     * Records a change of the key for the offline volumes.
     *
     * @param seen the slots at the time the working volumes received the change
     * @param apply applies the change to a volume that has returned since; false if the volume does not accept it
     */
    public void recordMissedChange(StoreKey key, Slot[] seen, Predicate<Volume> apply) {
        for (int i = 0; i < slots.length; i++) {
            recordMissedChange(key, i, seen[i].volume(), apply);
        }
    }

    /**
     * Records a change of the key for one slot.
     *
     * @param exempt volume that the caller has already handled, so that the change is not applied to it; null for none
     */
    private void recordMissedChange(StoreKey key, int number, @Nullable Volume exempt, Predicate<Volume> apply) {
        boolean recorded = false;
        while (!recorded) {
            Slot slot = slots[number];
            OfflineVolume offlineVolume = slot.offlineVolume();
            Volume current = slot.volume();
            // If a volume still has its slot but does not accept the task, it is being released or closed.
            recorded = offlineVolume != null
                    ? offlineVolume.recordMissedChange(key)
                    : current == null
                            || current == exempt
                            || !current.isWorking()
                            || apply.test(current)
                            || slots[number].volume() == current;
        }
    }

    /**
     * Returns true if the volume is not a member any more. Changes that the volume does not accept are then recorded
     * until it returns.
     */
    public boolean hasLeft(Volume volume) {
        for (Slot slot : slots) {
            if (slot.volume() == volume) {
                return false;
            }
        }
        return true;
    }

    /** Returns the number of old instances, from before a handover, that are still open for their readers. */
    int handedOver() {
        return handedOver.size();
    }

    /** Releases the leases. Records can still be found and read until {@link #endReads}. */
    public void release() throws IOException {
        endAll(Volume::release);
    }

    /** Ends lookups on the released volumes; existing handles stay readable. Blocks on the disk. */
    public void endReads() {
        for (Slot slot : slots) {
            if (slot.volume() != null) {
                slot.volume().endReads();
            }
        }
    }

    /**
     * Updates the reader lists of released volumes (files that name the segments that the next owner must not overwrite
     * yet). The next owner can then reclaim segments whose readers have ended. Closes old instances without readers.
     * Blocks on the disk.
     */
    public void shortenReaderLists() {
        for (Volume volume : List.copyOf(handedOver)) {
            if (volume.isUnread() && handedOver.remove(volume)) {
                try {
                    volume.closeFile();
                } catch (IOException e) {
                    LOG.warn(
                            "{}: an old instance of the volume cannot be closed: {}", volume.directory(), e.toString());
                }
            } else {
                volume.shortenReaderList();
            }
        }
        for (Slot slot : slots) {
            Volume volume = slot.volume();
            if (volume != null && volume.state() == VolumeState.SUSPENDED) {
                volume.shortenReaderList();
            }
        }
    }

    /**
     * Closes all volumes.
     *
     * @param suspended true if the volumes were handed over to another process, so that only their files are closed
     */
    public void close(boolean suspended) throws IOException {
        endAll(suspended ? Volume::closeFile : Volume::close);
        for (Volume volume : handedOver) {
            volume.closeFile();
        }
    }

    private interface Ending {
        void end(Volume volume) throws IOException;
    }

    private void endAll(Ending ending) throws IOException {
        IOException failure = null;
        for (Slot slot : slots) {
            try {
                if (slot.volume() != null) {
                    ending.end(slot.volume());
                }
            } catch (IOException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
