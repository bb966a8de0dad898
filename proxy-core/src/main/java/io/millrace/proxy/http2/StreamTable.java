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
    private static final Http2Stream[] NONE = {};

    private @Nullable IntObjectHashMap<Http2Stream> open;
    private int lastId;
    /** Bit n stands for the stream {@code lastId - 2n}: whether it was opened, and whether it was reset from here. */
    private long opened;

    private long reset;

    /** The highest stream that the client has begun. */
    int lastId() {
        return lastId;
    }

    /** A stream begins that is higher than all before. */
    void begin(int id) {
        int by = lastId == 0 ? REMEMBERED : (id - lastId) / 2;
        opened = by >= REMEMBERED ? 1 : opened << by | 1;
        reset = by >= REMEMBERED ? 0 : reset << by;
        lastId = id;
    }

    /** Whether the client may have begun the stream. */
    boolean isIdle(int id) {
        return id > lastId || (id & 1) == 0;
    }

    /** Whether the stream is known to have been begun; of the last few only. */
    boolean wasOpened(int id) {
        return bit(opened, id);
    }

    /** Whether the stream was reset from here; of the last few only. */
    boolean wasReset(int id) {
        return bit(reset, id);
    }

    /** The stream was reset from here: what the client sent before it knew is passed over. */
    void markReset(int id) {
        int place = (lastId - id) / 2;
        if (place < REMEMBERED) {
            reset |= 1L << place;
        }
    }

    private boolean bit(long set, int id) {
        int place = (lastId - id) / 2;
        return place >= 0 && place < REMEMBERED && (set >>> place & 1) != 0;
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
