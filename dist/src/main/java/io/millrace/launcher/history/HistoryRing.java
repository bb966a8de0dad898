package io.millrace.launcher.history;

import io.millrace.launcher.state.StateDirectory;
import io.millrace.proxy.admin.history.HistorySource.Archive;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of fixed size with the history of counters. Its archives have time steps of different lengths, such as 10
 * seconds and one minute. Each archive is a ring buffer of slots, in which a new step replaces the oldest one. A slot
 * contains the time of its step and a checksum.
 *
 * <p>Written steps survive the end of the process in the page cache. A power failure loses the last seconds, and may
 * damage one step of each archive. Not thread-safe; blocks.
 */
final class HistoryRing implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HistoryRing.class);

    private final FileChannel channel;
    private final Layout layout;

    private HistoryRing(FileChannel channel, Layout layout) {
        this.channel = channel;
        this.layout = layout;
    }

    /**
     * Opens or creates the file. If the existing file has another layout, which happens when the configured size
     * changes, creates a new file and copies the figures. Replaces a damaged file by an empty one.
     */
    static HistoryRing open(Path file, Layout newLayout) throws IOException {
        if (!Files.exists(file)) {
            return create(file, newLayout, null);
        }
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            Layout found = layoutOf(channel);
            if (newLayout.equals(found) && channel.size() == newLayout.bytes()) {
                return new HistoryRing(channel, newLayout);
            }
            if (found == null) {
                LOG.warn(
                        "{}: the file with figures of the past is damaged or of another version; it starts empty",
                        file);
            }
            HistoryRing fresh = create(file, newLayout, found == null ? null : new HistoryRing(channel, found));
            channel.close();
            return fresh;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static @Nullable Layout layoutOf(FileChannel channel) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(Layout.HEADER_BYTES);
        readFully(channel, header, 0);
        Layout layout = Layout.parse(header.flip());
        return layout != null && layout.bytes() <= channel.size() ? layout : null;
    }

    /** Creates a file with the figures of {@code earlier}. The file has a temporary name until it is complete. */
    private static HistoryRing create(Path file, Layout layout, @Nullable HistoryRing earlier) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        FileChannel channel = FileChannel.open(
                fresh,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        try {
            StateDirectory.restrict(fresh);
            HistoryRing ring = new HistoryRing(channel, layout);
            // Zeros are written to allocate the space, so that a full disk is reported now and not at a later step.
            writeFully(channel, ByteBuffer.allocate((int) layout.bytes()), 0);
            writeFully(channel, layout.encoded(), 0);
            if (earlier != null) {
                ring.copyFrom(earlier);
            }
            channel.force(true);
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return ring;
        } catch (IOException | RuntimeException e) {
            channel.close();
            Files.deleteIfExists(fresh);
            throw e;
        }
    }

    /**
     * Fills each archive from an archive of the earlier file: the one with the longest step that divides the new step.
     */
    private void copyFrom(HistoryRing earlier) throws IOException {
        for (Archive archive : layout.archives()) {
            Archive source = null;
            for (Archive candidate : earlier.layout.archives()) {
                source = archive.stepSeconds() % candidate.stepSeconds() == 0 ? candidate : source;
            }
            if (source == null) {
                continue;
            }
            TreeMap<Long, Figures> steps = new TreeMap<>();
            earlier.read(source, Long.MIN_VALUE, Long.MAX_VALUE)
                    .forEach((at, figures) -> steps.computeIfAbsent(stepBegin(archive, at), key -> new Figures())
                            .add(figures));
            // Copies only the latest steps, as many as the archive has.
            long newest = steps.isEmpty() ? 0 : steps.lastKey();
            for (var step : steps.tailMap(newest - archive.spanSeconds(), false).entrySet()) {
                write(archive, step.getKey(), step.getValue());
            }
        }
    }

    /** The archives, in the order of their step lengths. */
    List<Archive> archives() {
        return layout.archives();
    }

    private static long stepBegin(Archive archive, long atSeconds) {
        return Math.floorDiv(atSeconds, archive.stepSeconds()) * archive.stepSeconds();
    }

    /**
     * Adds figures to the step of every archive that contains the time. An earlier launcher process may already have
     * written figures for the same step; they are added up.
     */
    void add(long atSeconds, Figures figures) throws IOException {
        for (Archive archive : layout.archives()) {
            long stepBegin = stepBegin(archive, atSeconds);
            Figures step = readSlot(archive, stepBegin);
            Figures sum = step == null ? new Figures() : step;
            sum.add(figures);
            write(archive, stepBegin, sum);
        }
    }

    private void write(Archive archive, long stepBegin, Figures figures) throws IOException {
        writeFully(channel, Slot.encoded(stepBegin, figures), layout.position(archive, stepBegin));
    }

    private @Nullable Figures readSlot(Archive archive, long stepBegin) throws IOException {
        ByteBuffer slot = ByteBuffer.allocate(Slot.BYTES);
        readFully(channel, slot, layout.position(archive, stepBegin));
        slot.flip();
        return slot.remaining() == Slot.BYTES && Slot.atSeconds(slot) == stepBegin ? Slot.decoded(slot) : null;
    }

    /**
     * Returns the figures of the steps that begin in a range, by the time at which they begin. Omits damaged and empty
     * slots.
     */
    NavigableMap<Long, Figures> read(Archive archive, long fromSeconds, long toSeconds) throws IOException {
        TreeMap<Long, Figures> steps = new TreeMap<>();
        ByteBuffer all = ByteBuffer.allocate(archive.steps() * Slot.BYTES);
        readFully(channel, all, layout.position(archive));
        all.flip();
        for (int i = 0; i < all.limit() / Slot.BYTES; i++) {
            ByteBuffer slot = all.slice(i * Slot.BYTES, Slot.BYTES);
            long at = Slot.atSeconds(slot);
            if (at == 0 || at < fromSeconds || at >= toSeconds || at % archive.stepSeconds() != 0) {
                continue;
            }
            Figures figures = Slot.decoded(slot);
            if (figures != null) {
                steps.put(at, figures);
            }
        }
        return steps;
    }

    private static void readFully(FileChannel channel, ByteBuffer into, long position) throws IOException {
        long at = position;
        while (into.hasRemaining()) {
            int read = channel.read(into, at);
            if (read < 0) {
                return;
            }
            at += read;
        }
    }

    private static void writeFully(FileChannel channel, ByteBuffer bytes, long position) throws IOException {
        long at = position;
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
    }

    /** Forces the content to disk and closes the file. */
    @Override
    public void close() throws IOException {
        try (channel) {
            channel.force(false);
        }
    }
}
