package io.millrace.store.recover;

import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeListener;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.io.FileFaults;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.LeaseHeldException;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The volumes of a store, opened together. Determines which of them belong to the store and keep their content.
 *
 * <p>All volumes of one store have the same store id and the same generation. If a member is missing at the start, the
 * generation of the others increases. A volume that was missing may have missed removals; its generation is lower, and
 * it starts empty. A volume of another store also starts empty. A volume that was taken offline starts empty too: the
 * list of members in its superblock does not contain its own id. The first volume in the configuration that is not new
 * determines the store id.
 *
 * <p>Confined to one thread.
 */
public final class VolumeSet {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeSet.class);

    private final FileIo io;
    private final List<OpenedVolume> results = new ArrayList<>();
    private UUID storeId = UUID.randomUUID();
    private long generation;
    private long openCount;

    private VolumeSet(FileIo io) {
        this.io = io;
    }

    /**
     * Opens the volumes. A volume that cannot be opened is in {@link #volumes} with its failure.
     *
     * @throws LeaseHeldException if another store uses one of the paths; then no volume stays open
     */
    public static VolumeSet open(FileIo io, List<VolumeSpec> specs, ByteBufAllocator allocator, VolumeListener listener)
            throws IOException {
        VolumeSet set = new VolumeSet(io);
        set.openAll(specs, allocator, listener);
        return set;
    }

    /** Returns the result for each volume, in the order of the given list. */
    public List<OpenedVolume> volumes() {
        return results;
    }

    /** Returns the id of the store, which is also the seed of its key hash. */
    public UUID storeId() {
        return storeId;
    }

    /** Returns the number of times the store was opened, including this time. */
    public long openCount() {
        return openCount;
    }

    /** Returns the current generation, which all members have. */
    public long generation() {
        return generation;
    }

    private void openAll(List<VolumeSpec> specs, ByteBufAllocator allocator, VolumeListener listener)
            throws IOException {
        List<VolumeFiles> files = new ArrayList<>();
        try {
            for (VolumeSpec spec : specs) {
                try {
                    files.add(VolumeFiles.open(io, spec));
                } catch (LeaseHeldException e) {
                    throw e;
                } catch (IOException e) {
                    IOException explained = FileFaults.explain(spec.path(), e);
                    LOG.error(
                            "a volume cannot be opened; the store continues without the volume: {}",
                            FileFaults.messageOf(explained));
                    results.add(new OpenedVolume(spec, null, false, explained));
                }
            }
        } catch (LeaseHeldException e) {
            for (VolumeFiles opened : files) {
                opened.close();
            }
            throw e;
        }
        join(files);
        for (VolumeFiles volume : files) {
            try {
                Volume opened = IndexOpening.open(io, volume, allocator, listener);
                results.add(new OpenedVolume(volume.spec(), opened, !volume.startsEmpty(), null));
            } catch (IOException e) {
                fail(volume, e);
            }
        }
        results.sort((a, b) -> Integer.compare(specs.indexOf(a.spec()), specs.indexOf(b.spec())));
    }

    private void fail(VolumeFiles volume, IOException e) throws IOException {
        IOException explained = FileFaults.explain(volume.spec().path(), e);
        LOG.error(
                "a volume cannot be opened; the store continues without the volume: {}",
                FileFaults.messageOf(explained));
        results.add(new OpenedVolume(volume.spec(), null, false, explained));
        volume.close();
    }

    /**
     * Determines the members, and writes the list of members to every volume. Removes a volume that cannot be written
     * from {@code files}.
     */
    private void join(List<VolumeFiles> files) throws IOException {
        Superblock first = null;
        for (VolumeFiles volume : files) {
            Superblock found = volume.found();
            if (found != null) {
                first = first == null ? found : first;
                openCount = Math.max(openCount, found.openCount());
                if (found.storeId().equals(first.storeId())) {
                    generation = Math.max(generation, found.generation());
                }
            }
        }
        storeId = first == null ? storeId : first.storeId();
        openCount++;
        List<UUID> missing = new ArrayList<>();
        for (VolumeFiles volume : List.copyOf(files)) {
            Superblock found = volume.found();
            if (found != null && isMember(found)) {
                missing.addAll(found.members());
            } else {
                formatOrFail(files, volume);
            }
        }
        for (VolumeFiles volume : files) {
            UUID id = volume.superblock().volumeId();
            missing.removeIf(id::equals);
        }
        if (!missing.isEmpty()) {
            generation++;
        }
        writeAll(files);
    }

    /** Returns true if the volume is a member of the store, and so has missed no removal. */
    private boolean isMember(Superblock found) {
        return found.storeId().equals(storeId)
                && found.generation() == generation
                && found.members().contains(found.volumeId());
    }

    private void formatOrFail(List<VolumeFiles> files, VolumeFiles volume) throws IOException {
        try {
            volume.format(storeId);
        } catch (IOException e) {
            files.remove(volume);
            fail(volume, e);
        }
    }

    private void writeAll(List<VolumeFiles> files) throws IOException {
        boolean again = true;
        while (again) {
            again = false;
            List<UUID> members = new ArrayList<>();
            for (VolumeFiles volume : files) {
                members.add(volume.superblock().volumeId());
            }
            for (VolumeFiles volume : List.copyOf(files)) {
                try {
                    volume.write(storeId, generation, openCount, members);
                } catch (IOException e) {
                    files.remove(volume);
                    fail(volume, e);
                    again = true;
                }
            }
            if (again) {
                generation++;
            }
        }
    }
}
