package io.millrace.proxy.http2;

import io.netty.util.collection.IntObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The open streams of one connection, and a short history of its earlier streams.
 *
 * <p>Confined to one event loop.
 */
final class StreamTable {
    /** Number of earlier stream ids, and of resets, that the table remembers. */
    private static final int HISTORY_LENGTH = 64;

    private static final int[] NO_IDS = {};
    private static final Http2Stream[] NONE = {};

    private @Nullable IntObjectHashMap<Http2Stream> open;
    private int lastId;
    /** Bit n is set if the stream {@code lastId - 2n} was opened. */
    private long opened;

    /** Ring buffer with the ids of the streams that this server reset last. */
    private int[] resets = NO_IDS;

    private int nextReset;

    /** The highest id of a stream that the client has begun. */
    int lastId() {
        return lastId;
    }

    /** Records a new stream, whose id is higher than all earlier ids. */
    void begin(int id) {
        int shift = lastId == 0 ? HISTORY_LENGTH : (id - lastId) / 2;
        opened = shift >= HISTORY_LENGTH ? 1 : opened << shift | 1;
        lastId = id;
    }

    /** Returns true if the client has not begun the stream yet, or cannot begin it because its id is even. */
    boolean isIdle(int id) {
        return id > lastId || (id & 1) == 0;
    }

    /** Returns true if the client opened the stream. Covers only the last {@value #HISTORY_LENGTH} ids. */
    boolean wasOpened(int id) {
        int place = (lastId - id) / 2;
        return !isIdle(id) && place < HISTORY_LENGTH && (opened >>> place & 1) != 0;
    }

    /** Returns true if this server reset the stream. Covers only the last {@value #HISTORY_LENGTH} resets. */
    boolean wasReset(int id) {
        for (int reset : resets) {
            if (reset == id && id != 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Records that this server reset the stream. Frames that the client sent before it received the reset are
     * then ignored.
     */
    void markReset(int id) {
        if (resets.length == 0) {
            resets = new int[HISTORY_LENGTH];
        }
        resets[nextReset] = id;
        nextReset = (nextReset + 1) % HISTORY_LENGTH;
    }

    @Nullable
    Http2Stream get(int id) {
        IntObjectHashMap<Http2Stream> streams = open;
        return streams == null ? null : streams.get(id);
    }

    void put(Http2Stream stream) {
        IntObjectHashMap<Http2Stream> streams = open;
        if (streams == null) {
            streams = new IntObjectHashMap<>();
            open = streams;
        }
        streams.put(stream.id(), stream);
    }

    /** Removes a stream. Returns false if it was not in the table. */
    boolean remove(Http2Stream stream) {
        IntObjectHashMap<Http2Stream> streams = open;
        return streams != null && streams.remove(stream.id()) != null;
    }

    int size() {
        IntObjectHashMap<Http2Stream> streams = open;
        return streams == null ? 0 : streams.size();
    }

    /** Returns a copy of the open streams, in no order. */
    Http2Stream[] all() {
        IntObjectHashMap<Http2Stream> streams = open;
        return streams == null || streams.isEmpty() ? NONE : streams.values().toArray(NONE);
    }
}
