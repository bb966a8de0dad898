package io.millrace.proxy.http2;

import io.netty.util.collection.IntObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The streams of one connection: those that are open, and what is remembered of the last that are not.
 *
 * <p>Confined to one event loop.
 */
final class StreamTable {
    private static final int REMEMBERED = 64;
    private static final int[] NO_IDS = {};
    private static final Http2Stream[] NONE = {};

    private @Nullable IntObjectHashMap<Http2Stream> open;
    private int lastId;
    /** Bit n stands for the stream {@code lastId - 2n}: whether it was opened. */
    private long opened;

    /** The streams that were reset from here last, however many have begun since; a ring. */
    private int[] resets = NO_IDS;

    private int nextReset;

    /** The highest stream that the client has begun. */
    int lastId() {
        return lastId;
    }

    /** A stream begins that is higher than all before. */
    void begin(int id) {
        int by = lastId == 0 ? REMEMBERED : (id - lastId) / 2;
        opened = by >= REMEMBERED ? 1 : opened << by | 1;
        lastId = id;
    }

    /** Whether the client may have begun the stream. */
    boolean isIdle(int id) {
        return id > lastId || (id & 1) == 0;
    }

    /** Whether the stream is known to have been begun; of the last few only. */
    boolean wasOpened(int id) {
        int place = (lastId - id) / 2;
        return place >= 0 && place < REMEMBERED && (opened >>> place & 1) != 0;
    }

    /** Whether the stream was reset from here; of the last few resets only. */
    boolean wasReset(int id) {
        for (int reset : resets) {
            if (reset == id && id != 0) {
                return true;
            }
        }
        return false;
    }

    /** The stream was reset from here: what the client sent before it knew is passed over. */
    void markReset(int id) {
        if (resets.length == 0) {
            resets = new int[REMEMBERED];
        }
        resets[nextReset] = id;
        nextReset = (nextReset + 1) % REMEMBERED;
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

    /** Removes a stream; false when it was not there. */
    boolean remove(Http2Stream stream) {
        IntObjectHashMap<Http2Stream> streams = open;
        return streams != null && streams.remove(stream.id()) != null;
    }

    int size() {
        IntObjectHashMap<Http2Stream> streams = open;
        return streams == null ? 0 : streams.size();
    }

    /** The open streams now, in no order. */
    Http2Stream[] all() {
        IntObjectHashMap<Http2Stream> streams = open;
        return streams == null || streams.isEmpty() ? NONE : streams.values().toArray(NONE);
    }
}
