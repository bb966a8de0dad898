package io.millrace.store.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The plan of a {@link FaultyFileIo}: which reads and writes fail, and which write is the last one. Guarded by the
 * caller's lock.
 */
final class FaultPlan {
    private static final String FULL = "No space left on device";

    private long writesUntilKill = -1;
    private Random tearing = new Random(0);
    private boolean failWrites;
    private boolean failReads;
    private Path onlyUnder = Path.of("/");
    private String fault = FULL;
    private Path badFile = Path.of("/");
    private long badFrom;
    private long badTo;
    private @Nullable Path heldUnder;
    private @Nullable Runnable beforeWrite;
    private @Nullable Path readUnder;
    private @Nullable Runnable beforeRead;
    private @Nullable Path countedUnder;
    private int writesCounted;
    private Set<Integer> writesToFail = Set.of();

    void killAfterWrites(long writes, Random random) {
        writesUntilKill = writes;
        tearing = random;
    }

    void failWrites(boolean fail, Path under) {
        failWrites = fail;
        onlyUnder = under;
    }

    void readOnly(boolean on, Path under) {
        failWrites(on, under);
        fault = on ? "Read-only file system" : FULL;
    }

    void failReads(boolean fail, Path under) {
        failReads = fail;
        onlyUnder = under;
    }

    void failReads(Path path, long from, long to) {
        badFile = path;
        badFrom = from;
        badTo = to;
    }

    void failWritesNumbered(Path under, Random random, Set<Integer> numbers) {
        countedUnder = under;
        writesCounted = 0;
        writesToFail = numbers;
        tearing = random;
    }

    void beforeNextWrite(Path under, Runnable action) {
        heldUnder = under;
        beforeWrite = action;
    }

    /** Returns the action to run before this write; null for none. */
    @Nullable
    Runnable takeBeforeWrite(Path path) {
        if (heldUnder == null || !path.startsWith(heldUnder)) {
            return null;
        }
        heldUnder = null;
        return beforeWrite;
    }

    void beforeReads(Path under, Runnable action) {
        readUnder = under;
        beforeRead = action;
    }

    /** Returns the action to run before this read; null for none. */
    @Nullable
    Runnable beforeRead(Path path) {
        return readUnder != null && path.startsWith(readUnder) ? beforeRead : null;
    }

    int writesCounted() {
        return writesCounted;
    }

    void checkWrite(Path path) throws IOException {
        check(failWrites, path);
    }

    void checkRead(Path path) throws IOException {
        check(failReads, path);
    }

    private void check(boolean fail, Path path) throws IOException {
        if (fail && path.startsWith(onlyUnder)) {
            throw new IOException(path + ": " + fault);
        }
    }

    /** Fails if a bad sector is among those read. */
    void checkSectors(Path path, long position, int count) throws IOException {
        if (path.equals(badFile) && position < badTo && position + count > badFrom) {
            throw new IOException(path + ": Input/output error");
        }
    }

    /** Counts a write; returns true if it must fail. */
    boolean isToFail(Path path) {
        if (countedUnder == null || !path.startsWith(countedUnder)) {
            return false;
        }
        writesCounted++;
        return writesToFail.contains(writesCounted);
    }

    /** Counts a write; returns true if the process dies during it. */
    boolean isToKill() {
        if (writesUntilKill == 0) {
            return true;
        }
        writesUntilKill -= writesUntilKill > 0 ? 1 : 0;
        return false;
    }

    /** Returns a first part of the bytes. */
    ByteBuffer torn(ByteBuffer source) {
        return source.limit(source.position() + tearing.nextInt(source.remaining() + 1));
    }
}
