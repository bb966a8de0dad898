package io.millrace.store.disk;

import io.millrace.store.disk.segment.SegmentFile;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the use of a volume by this process. It stops the volume's thread, releases the lease (the lock by which this
 * process owns the volume) and closes the file. For the next owner it writes the list of segments that this process may
 * still read.
 *
 * <p>Thread-safe.
 */
final class VolumeEnding {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeEnding.class);

    private final VolumeParts parts;
    private final VolumeThread thread;
    private final VolumeHealth health;
    private final SegmentFile segments;
    private final Path directory;

    VolumeEnding(VolumeParts parts, VolumeThread thread, VolumeHealth health, SegmentFile segments) {
        this.parts = parts;
        this.thread = thread;
        this.health = health;
        this.segments = segments;
        this.directory = parts.directory();
    }

    /**
     * Writes and forces queued records and releases the lease. Call once.
     *
     * @param last the final state. RELEASED: lookups continue, so the reader list contains every segment with records.
     *     SUSPENDED: it contains the segments that readers have pinned. CLOSED: no list is written
     * @param stopping runs on the volume's thread after the last append
     */
    void end(VolumeState last, Runnable stopping) throws IOException {
        IOException[] failure = {null};
        try {
            thread.stop(() -> {
                try {
                    stopping.run();
                } finally {
                    failure[0] = finish(last == VolumeState.RELEASED ? health.release() : health.end(last), last);
                }
            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(directory + ": interrupted while closing", e);
        } finally {
            parts.lease().close();
        }
        if (failure[0] != null) {
            throw failure[0];
        }
    }

    private @Nullable IOException finish(VolumeState before, VolumeState last) {
        try {
            if (before == VolumeState.ONLINE) {
                segments.force();
                if (last == VolumeState.CLOSED) {
                    parts.index().close();
                }
            }
            return null;
        } catch (IOException e) {
            return e;
        } catch (RuntimeException | InternalError e) {
            return new IOException(directory + ": index could not be closed: " + e, e);
        } finally {
            if (last != VolumeState.CLOSED) {
                publishReaders();
            }
        }
    }

    private void publishReaders() {
        try {
            if (health.state() == VolumeState.RELEASED) {
                parts.readers().publishAll(parts.pins(), parts.table());
            } else {
                parts.readers().publishPinned(parts.pins(), parts.table());
            }
        } catch (IOException e) {
            health.note(e);
            LOG.error(
                    "{}: the list of segments in use by readers cannot be written, so reads in progress are aborted: {}",
                    directory,
                    e.toString());
            try {
                parts.file().close();
            } catch (IOException closing) {
                LOG.warn("{}: the volume's file cannot be closed: {}", directory, closing.toString());
            }
        }
    }

    /** Moves from RELEASED to SUSPENDED: lookups find no records, and the reader list contains only pinned segments. */
    void endReads() {
        if (health.end(VolumeState.SUSPENDED) == VolumeState.RELEASED) {
            shortenReaderList();
        }
    }

    /** Closes the file; reads then fail. */
    void closeFile() throws IOException {
        try {
            parts.file().close();
        } finally {
            parts.readers().delete();
        }
    }

    /** Removes segments without pins from the reader list for the next owner. Blocks on the disk. */
    void shortenReaderList() {
        try {
            parts.readers().shorten(parts.pins(), parts.table());
        } catch (IOException e) {
            LOG.warn("{}: the list of segments in use by readers cannot be updated: {}", directory, e.toString());
        }
    }

    /**
     * Deletes the reader list. Call when another instance in this process owns the path again and has taken over the
     * pins.
     */
    void deleteReaderList() throws IOException {
        parts.readers().delete();
    }
}
