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
 * Whether a volume works, and the errors that decide it. The state changes in one place only, along the moves that
 * {@link VolumeState#mayBecome} allows: so an error at the moment when the rebuild ends, or the volume is closed, is
 * neither overwritten nor overwrites.
 *
 * <p>Thread-safe.
 */
final class VolumeHealth {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeHealth.class);

    private final Path directory;
    private final Runnable onGivenUp;
    /** Held while the state changes. */
    private final ReentrantLock moving = new ReentrantLock();

    private final AtomicLong errors = new AtomicLong();
    private final AtomicInteger errorsInARow = new AtomicInteger();
    private volatile VolumeState state;
    private volatile @Nullable IOException lastError;

    /**
     * The health of the volume in the directory.
     *
     * @param onGivenUp runs once, on the thread whose error was one too many, when the state is OFFLINE
     */
    VolumeHealth(Path directory, VolumeState first, Runnable onGivenUp) {
        this.directory = directory;
        this.onGivenUp = onGivenUp;
        state = first;
    }

    VolumeState state() {
        return state;
    }

    /** Whether records can be found and written. */
    boolean isWorking() {
        return state.isWorking();
    }

    /** Whether records can be found and read. */
    boolean isReadable() {
        return state.isReadable();
    }

    void checkWorking() throws IOException {
        VolumeState now = state;
        if (!now.isWorking()) {
            throw new IOException(directory + ": volume is " + now);
        }
    }

    /** The index is whole; false when the volume was given up or ended meanwhile. */
    boolean opened() {
        return move(VolumeState.ONLINE) == VolumeState.OPENING;
    }

    /** Moves on to the state if that is allowed; returns the one before, whether it was or not. */
    VolumeState end(VolumeState last) {
        return move(last);
    }

    /** Moves to RELEASED, or to SUSPENDED where the index cannot be relied on; returns the state before. */
    VolumeState release() {
        moving.lock();
        try {
            VolumeState before = state;
            if (move(VolumeState.RELEASED) != VolumeState.ONLINE) {
                move(VolumeState.SUSPENDED);
            }
            return before;
        } finally {
            moving.unlock();
        }
    }

    /** The state before, from which the move was made if it {@link VolumeState#mayBecome may}. */
    private VolumeState move(VolumeState next) {
        moving.lock();
        try {
            VolumeState before = state;
            if (before.mayBecome(next)) {
                state = next;
            }
            return before;
        } finally {
            moving.unlock();
        }
    }

    /** Something was written: errors so far were not in a row with those to come. */
    void succeeded() {
        errorsInARow.set(0);
    }

    /** Counts an I/O error; returns it. */
    IOException failed(IOException e) {
        if (e instanceof AppendRefusedException || e instanceof DamagedRecordException || !isWorking()) {
            return e;
        }
        errors.incrementAndGet();
        lastError = e;
        if (errorsInARow.incrementAndGet() >= Volume.ERRORS_IN_A_ROW_MAX) {
            giveUp(e);
        } else {
            LOG.warn("{}: {}", directory, e.toString());
        }
        return e;
    }

    /** The mapped index cannot be read or written, or says what cannot be: it is not tried again. Any thread. */
    IOException indexFailed(Throwable e) {
        IOException said = new IOException("index failed: " + e, e);
        giveUp(said);
        return said;
    }

    /** Takes the volume out at once. */
    void giveUp(IOException cause) {
        if (move(VolumeState.OFFLINE).mayBecome(VolumeState.OFFLINE)) {
            IOException said = FileFaults.explain(directory, cause);
            lastError = said;
            LOG.error("{}: volume taken out: {}", directory, FileFaults.words(said));
            onGivenUp.run();
        }
    }

    /** I/O errors so far. */
    long errors() {
        return errors.get();
    }

    /** The last I/O error. */
    @Nullable
    IOException lastError() {
        return lastError;
    }

    /** Notes an error that changes nothing else. */
    void note(IOException e) {
        lastError = e;
    }
}
