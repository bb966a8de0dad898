package io.millrace.store.engine;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.VolumeConfig;
import io.millrace.store.disk.Volume;
import io.millrace.store.io.FileIo;
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
import org.jspecify.annotations.Nullable;

/**
 * The volumes of a store: which of them a key goes to, and which may hold it.
 *
 * <p>Each key has a home among the volumes that work: by rendezvous hashing weighted with the volumes' sizes, so that
 * when one is lost only its keys move. What was stored while another set of volumes worked is found all the same, as a
 * lookup asks the home's index first and then the others'.
 *
 * <p>Thread-safe; {@link #open} and {@link #reopen} are confined to who opens the store and to who holds its life cycle
 * lock.
 */
final class VolumeGroup {
    private static final long AUTOMATIC_SEGMENTS = 256;
    private static final int AUTOMATIC_SEGMENT_BYTES_MIN = 4 << 20;
    private static final int SEGMENT_BYTES_MAX = 1 << 30;

    private final FileIo io;
    private final StoreConfig config;
    private final ByteBufAllocator allocator;
    private final Volume.Listener listener;
    private final List<Volume> handedOver = new CopyOnWriteArrayList<>();
    private volatile Slot[] slots = {};
    private volatile UUID storeId = UUID.randomUUID();
    private volatile long generation;
    private long openCount = 1;

    /** One configured volume: exactly one of volume and failure is there. */
    record Slot(
            int number,
            VolumeConfig config,
            @Nullable Volume volume,
            @Nullable IOException failure) {}

    VolumeGroup(FileIo io, StoreConfig config, ByteBufAllocator allocator, Volume.Listener listener) {
        this.io = io;
        this.config = config;
        this.allocator = allocator;
        this.listener = listener;
    }

    /** Opens the configured volumes and starts them. */
    void open() throws IOException {
        if (config.volumes().isEmpty()) {
            return;
        }
        VolumeSet set = VolumeSet.open(io, specs(), allocator, listener);
        storeId = set.storeId();
        take(set);
    }

    /**
     * Takes the volumes back after they were handed over.
     *
     * @return whether nobody else had them meanwhile
     */
    boolean reopen() throws IOException {
        VolumeSet set = VolumeSet.open(io, specs(), allocator, listener);
        for (Slot slot : slots) {
            if (slot.volume() != null) {
                handedOver.add(slot.volume());
            }
        }
        boolean ours = set.openCount() == openCount + 1 && set.storeId().equals(storeId);
        if (!set.storeId().equals(storeId)) {
            for (OpenedVolume opened : set.volumes()) {
                if (opened.volume() != null) {
                    opened.volume().start();
                    opened.volume().close();
                }
            }
            throw new IOException("the volumes belong to another store now");
        }
        Slot[] before = slots;
        take(set);
        for (int i = 0; i < before.length; i++) {
            passOnReaders(before[i].volume(), slots[i].volume());
        }
        return ours;
    }

    private static void passOnReaders(@Nullable Volume from, @Nullable Volume to) throws IOException {
        if (from != null && to != null && from.pins() == to.pins()) {
            from.passOnReaders();
        }
    }

    private void take(VolumeSet set) {
        openCount = set.openCount();
        generation = set.generation();
        Slot[] opened = new Slot[config.volumes().size()];
        for (int i = 0; i < opened.length; i++) {
            OpenedVolume result = set.volumes().get(i);
            opened[i] = new Slot(i, config.volumes().get(i), result.volume(), result.failure());
        }
        slots = opened;
        for (Slot slot : opened) {
            if (slot.volume() != null) {
                slot.volume().start();
            }
        }
    }

    private List<VolumeSpec> specs() {
        List<VolumeSpec> specs = new ArrayList<>();
        for (int i = 0; i < config.volumes().size(); i++) {
            VolumeConfig volume = config.volumes().get(i);
            Volume before = i < slots.length ? slots[i].volume() : null;
            Path path = volume.path().toAbsolutePath();
            specs.add(new VolumeSpec(
                    path, volume.sizeBytes(), segmentBytes(volume), before == null ? null : before.pins()));
        }
        return specs;
    }

    /** Bytes of a segment: as configured or by size, but always some segments in a volume. */
    private int segmentBytes(VolumeConfig volume) {
        long wanted = config.segmentBytes();
        if (wanted == 0) {
            wanted = Math.max(AUTOMATIC_SEGMENT_BYTES_MIN, Long.highestOneBit(volume.sizeBytes() / AUTOMATIC_SEGMENTS));
        }
        long most = Math.min(SEGMENT_BYTES_MAX, volume.sizeBytes() / VolumeSpec.SEGMENTS_MIN);
        return (int) (Math.min(wanted, most) / 4096 * 4096);
    }

    /** Seed of the store's key hash. */
    long hashSeed() {
        return storeId.getLeastSignificantBits() ^ storeId.getMostSignificantBits();
    }

    /** How often the store was opened, for object ids. */
    long openCount() {
        return openCount;
    }

    /** Whether volumes are configured at all. */
    boolean isConfigured() {
        return !config.volumes().isEmpty();
    }

    Slot[] slots() {
        return slots;
    }

    /** The volume of that number if it works now. */
    @Nullable
    Volume working(int number) {
        Slot[] now = slots;
        if (number < 0 || number >= now.length) {
            return null;
        }
        Volume volume = now[number].volume();
        return volume != null && volume.isWorking() ? volume : null;
    }

    /** Number of the volume that a new object of the key goes to, {@link StoreObject#NO_VOLUME} when none works. */
    int home(StoreKey key) {
        Slot[] now = slots;
        int best = StoreObject.NO_VOLUME;
        double bestScore = 0;
        for (int i = 0; i < now.length; i++) {
            if (working(i) == null) {
                continue;
            }
            double score = now.length == 1 ? 1 : score(key, now[i]);
            if (best < 0 || score > bestScore) {
                best = i;
                bestScore = score;
            }
        }
        return best;
    }

    /** Weighted rendezvous: w / -ln(u), with u in (0, 1) from the hash of key and volume. */
    private static double score(StoreKey key, Slot slot) {
        Volume volume = slot.volume();
        UUID id = volume == null ? new UUID(0, 0) : volume.id();
        long mixed = (key.hashHigh() ^ id.getMostSignificantBits()) * 0x9E37_79B9_7F4A_7C15L;
        mixed = (mixed ^ (mixed >>> 32) ^ id.getLeastSignificantBits()) * 0xD6E8_FEB8_6659_FD93L;
        mixed ^= mixed >>> 32;
        double unit = ((mixed >>> 11) + 0.5) * 0x1.0p-53;
        return slot.config().sizeBytes() / -Math.log(unit);
    }

    /** Whether any volume's index may know the key. */
    boolean mayHold(StoreKey key) {
        for (Slot slot : slots) {
            if (slot.volume() != null && slot.volume().mayHold(key.hashHigh(), key.hashLow())) {
                return true;
            }
        }
        return false;
    }

    /** Whether an index is still being rebuilt, so that what is not found may be there all the same. */
    boolean isOpening() {
        for (Slot slot : slots) {
            if (slot.volume() != null && slot.volume().state() == Volume.State.OPENING) {
                return true;
            }
        }
        return false;
    }

    /** A member was lost: tells the others, so that its removals are known to be missing when it returns. */
    void lost(Volume volume) {
        long next = generation + 1;
        generation = next;
        for (Slot slot : slots) {
            Volume other = slot.volume();
            if (other != null && other != volume) {
                other.execute(() -> other.generation(next));
            }
        }
    }

    /** Gives the leases back; handles held stay readable. */
    void suspend() throws IOException {
        endAll(Volume::suspend);
    }

    /** Tells the next owners of what was handed over which readers have ended. Blocks on the disk. */
    void shortenReaderLists() {
        for (Volume volume : handedOver) {
            volume.shortenReaderList();
        }
        for (Slot slot : slots) {
            Volume volume = slot.volume();
            if (volume != null && volume.state() == Volume.State.SUSPENDED) {
                volume.shortenReaderList();
            }
        }
    }

    /** Closes everything. */
    void close(boolean suspended) throws IOException {
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
