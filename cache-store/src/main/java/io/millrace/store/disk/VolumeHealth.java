package io.millrace.store.disk;

import io.millrace.store.disk.record.DamagedRecordException;
import io.millrace.store.io.FileFaults;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of a volume and its error counts. A lock serializes all state changes, and {@link VolumeState#mayBecome}
 * defines the allowed ones. Therefore concurrent changes, for example an error during a close, do not overwrite each
 * other.
 *
 * <p>Thread-safe.
 */
final class VolumeHealth {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeHealth.class);

    private final Path directory;
    private final Runnable onOffline;
    /** Held while the state changes. */
    private final ReentrantLock stateLock = new ReentrantLock();

    private final AtomicLong errors = new AtomicLong();
    private final AtomicInteger errorsInARow = new AtomicInteger();
    private volatile VolumeState state;
    private volatile @Nullable IOException lastError;

    /**
     * Creates the health of the volume in the directory.
     *
     * @param onOffline runs once after the state has become OFFLINE, on the thread that reported the last error
     */
    VolumeHealth(Path directory, VolumeState first, Runnable onOffline) {
        this.directory = directory;
        this.onOffline = onOffline;
        state = first;
    }

    VolumeState state() {
        return state;
    }

    /** Returns true if records can be found and written. */
    boolean isWorking() {
        return state.isWorking();
    }

    /** Returns true if records can be found and read. */
    boolean isReadable() {
        return state.isReadable();
    }

    void checkWorking() throws IOException {
        VolumeState now = state;
        if (!now.isWorking()) {
            throw new IOException(directory + ": volume is " + now);
        }
    }

    /** Marks the index as complete; false if the volume went offline or ended in the meantime. */
    boolean opened() {
        return move(VolumeState.ONLINE) == VolumeState.OPENING;
    }

    /** Changes to SUSPENDED or CLOSED if that is allowed; returns the previous state in any case. */
    VolumeState end(VolumeState last) {
        return move(last);
    }

    /** Changes from ONLINE to RELEASED, or from another state to SUSPENDED if allowed. Returns the previous state. */
    VolumeState release() {
        stateLock.lock();
        try {
            VolumeState before = state;
            if (move(VolumeState.RELEASED) != VolumeState.ONLINE) {
                move(VolumeState.SUSPENDED);
            }
            return before;
        } finally {
            stateLock.unlock();
        }
    }

    /** Changes the state if {@link VolumeState#mayBecome} allows it. Returns the previous state. */
    private VolumeState move(VolumeState next) {
        stateLock.lock();
        try {
            VolumeState before = state;
            if (before.mayBecome(next)) {
                state = next;
            }
            return before;
        } finally {
            stateLock.unlock();
        }
    }

    /** Resets the number of consecutive errors after a successful write. */
    void succeeded() {
        errorsInARow.set(0);
    }

    /**
     * Counts an I/O error; returns it. Too many errors in a row take the volume offline. Refused appends and damaged
     * records do not count.
     */
    IOException failed(IOException e) {
        if (e instanceof AppendRefusedException || e instanceof DamagedRecordException || !isWorking()) {
            return e;
        }
        errors.incrementAndGet();
        lastError = e;
        if (errorsInARow.incrementAndGet() >= Volume.ERRORS_IN_A_ROW_MAX) {
            takeOffline(e);
        } else {
            LOG.warn("{}: I/O error: {}", directory, e.toString());
        }
        return e;
    }

    /** Takes the volume offline, because the mapped index cannot be read or written, or is inconsistent. Any thread. */
    IOException indexFailed(Throwable e) {
        IOException explained = new IOException("index failed: " + e, e);
        takeOffline(explained);
        return explained;
    }

    /** Takes the volume offline immediately. */
    void takeOffline(IOException cause) {
        if (move(VolumeState.OFFLINE).mayBecome(VolumeState.OFFLINE)) {
            IOException explained = FileFaults.explain(directory, cause);
            lastError = explained;
            LOG.error("{}: volume taken offline because of an error: {}", directory, FileFaults.messageOf(explained));
            onOffline.run();
        }
    }

    /** Returns the number of I/O errors. */
    long errors() {
        return errors.get();
    }

    /** Returns the last I/O error. */
    @Nullable
    IOException lastError() {
        return lastError;
    }

    /** Sets the last error without counting it. */
    void note(IOException e) {
        lastError = e;
    }
}
