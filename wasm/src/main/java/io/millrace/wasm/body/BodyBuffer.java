package io.millrace.wasm.body;

import io.millrace.wasm.abi.Status;
import java.util.Arrays;

/**
 * The content of a response as a module sees it: the last piece, behind earlier pieces that the module has held back.
 * The released content waits here until the proxy takes it.
 *
 * <p>Used by one thread at a time, except for {@link #close} and {@link #isClosed}, which are thread-safe.
 */
public final class BodyBuffer {
    /** Number of bytes that a module may write in addition to twice the length of its input. */
    private static final int GROWTH_BYTES_MAX = 1 << 20;

    private static final byte[] EMPTY = {};

    private final int heldBytesMax;
    private final HeldBytes.Share share;
    private byte[] content = EMPTY;
    private int length;
    private byte[] released = EMPTY;
    /** Bytes of input since the last output. */
    private long inputBytes;

    private boolean isChanged;
    private boolean isEnd;
    private volatile boolean isClosed;

    /**
     * @param heldBytesMax limit of the bytes that the module may hold back
     * @param all the limit for the contents of all responses
     */
    public BodyBuffer(int heldBytesMax, HeldBytes all) {
        this.heldBytesMax = heldBytesMax;
        share = all.open();
    }

    /**
     * Appends a piece from the origin.
     *
     * @param isLast true if it ends the content; it may be empty then
     * @return false if the contents of all responses have too many bytes; the piece is appended nevertheless
     */
    public boolean append(byte[] piece, boolean isLast) {
        isEnd = isLast;
        inputBytes += piece.length;
        boolean isWithinLimits = reserve(length + piece.length);
        if (!isWithinLimits && length + piece.length > content.length) {
            content = Arrays.copyOf(content, length + piece.length);
        }
        System.arraycopy(piece, 0, content, length, piece.length);
        length += piece.length;
        return isWithinLimits;
    }

    /**
     * Makes the array large enough for a number of bytes. Doubles it if the limit permits, so that many pieces are not
     * copied each time. Returns false if the contents of all responses have too many bytes; then the array is
     * unchanged.
     */
    private boolean reserve(int bytes) {
        if (bytes <= content.length) {
            return share.resize(content.length + (long) released.length);
        }
        long granted = share.resize(bytes + (long) released.length, Math.max(bytes, 2L * length) + released.length);
        if (granted < 0) {
            return false;
        }
        content = Arrays.copyOf(content, (int) (granted - released.length));
        return true;
    }

    /** The number of bytes that the module sees. */
    public int length() {
        return length;
    }

    /** Returns true if the module sees the end of the content. */
    public boolean isEnd() {
        return isEnd;
    }

    /** Returns true if the module has held back more bytes than it may. */
    public boolean isOverLimit() {
        return length > heldBytesMax;
    }

    /** Returns true if the module has changed any content of the response. */
    public boolean isChanged() {
        return isChanged;
    }

    /**
     * Copies a part of the content. A part beyond the end is shorter.
     *
     * @param from from 0 to {@link #length}
     */
    public byte[] copy(int from, long bytes) {
        return Arrays.copyOfRange(content, from, from + (int) Math.min(bytes, length - from));
    }

    /** Returns true if a value of this length may be the argument of {@link #replace}. */
    public boolean hasRoom(long start, long size, long valueBytes) {
        long removed = Math.min(size, length - Math.min(start, length));
        return released.length + length - removed + valueBytes <= 2 * inputBytes + GROWTH_BYTES_MAX;
    }

    /**
     * Replaces bytes of the content. A start of 0 and a size of 0 prepend; a start behind the content appends.
     *
     * @param start first byte to replace, not negative
     * @param size number of bytes to replace, not negative
     * @return the status for the module
     */
    public int replace(long start, long size, byte[] value) {
        int first = (int) Math.min(start, length);
        int tailLength = length - first - (int) Math.min(size, length - first);
        int newLength = first + value.length + tailLength;
        if (!reserve(newLength)) {
            return Status.INTERNAL_FAILURE;
        }
        int tailStart = length - tailLength;
        System.arraycopy(content, tailStart, content, first + value.length, tailLength);
        System.arraycopy(value, 0, content, first, value.length);
        length = newLength;
        isChanged = true;
        return Status.OK;
    }

    /** Releases the content, so that the proxy passes it on with the next output. */
    public void release() {
        int before = released.length;
        if (before == 0 && length == content.length) {
            released = content;
        } else {
            released = Arrays.copyOf(released, before + length);
            System.arraycopy(content, 0, released, before, length);
        }
        content = EMPTY;
        length = 0;
    }

    /**
     * Removes and returns the released content, for the next output. Before the end of the content, returns nothing
     * while more than {@link #GROWTH_BYTES_MAX} bytes of unreleased content follow. Reason: the size limit of a later
     * output counts only the input after this output, but the module may have enlarged the following content in
     * proportion to earlier input.
     */
    public byte[] takeReleased() {
        if (released.length == 0 || (!isEnd && length > GROWTH_BYTES_MAX)) {
            return EMPTY;
        }
        byte[] taken = released;
        released = EMPTY;
        inputBytes = 0;
        boolean ignored = share.resize(content.length);
        return taken;
    }

    /** Ends the use of the content. Thread-safe and idempotent. */
    public void close() {
        isClosed = true;
        share.release();
    }

    public boolean isClosed() {
        return isClosed;
    }
}
