package io.millrace.proxy.observe.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The access log's queue of one event loop: a ring of bytes that the loop fills and the log's writer empties, without lock
 * and without allocation. When it has no room for a record of the greatest length the record is dropped and counted.
 *
 * <pre>
 *   claim() -> record -> publish()          drain(reader)
 *   +----------+----------+--------+- - - - - - - - - +-----+
 *   | record   | record   | record |   free           | pad |
 *   +----------+----------+--------+- - - - - - - - - +-----+
 *   ^ read                         ^ published              ^ capacity, a power of two
 * </pre>
 *
 * <p>A record is contiguous: when the way to the end is shorter than the longest record, the rest is padding. {@link
 * #claim} and {@link #publish} belong to one event loop; {@link #drain} belongs to one writer thread; the counts may be
 * read by any thread. The fields of both sides share cache lines: the writer comes by some fifty times a second, which
 * costs the loop nothing that could be measured against padding.
 */
public final class AccessLogRing {
    static final int MIN_BYTES = 4 * AccessLogRecord.MAX_LENGTH;
    static final int MAX_BYTES = 1 << 28;

    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle READ_POSITION;
    private static final VarHandle PUBLISHED_POSITION;
    private static final VarHandle OFFERED;
    private static final VarHandle DROPPED;

    /** In place of a record's length: skip to the start of the ring. */
    private static final int PADDING = -1;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            READ_POSITION = lookup.findVarHandle(AccessLogRing.class, "readPosition", long.class);
            PUBLISHED_POSITION = lookup.findVarHandle(AccessLogRing.class, "publishedPosition", long.class);
            OFFERED = lookup.findVarHandle(AccessLogRing.class, "offered", long.class);
            DROPPED = lookup.findVarHandle(AccessLogRing.class, "dropped", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Takes what {@link #drain} finds. */
    @FunctionalInterface
    interface Reader {
        /** Reads one record; it is overwritten after the call. Returns false to stop after this one. */
        boolean read(LoggedRecord logged);
    }

    private final byte[] bytes;
    private final int mask;
    private final LogCapture[] captures;
    private final boolean showsTls;

    // The event loop's.
    private final AccessLogRecord writing;
    private long claimedPosition;
    private long knownReadPosition;
    private long publishedPosition;
    private long offered;
    private long dropped;

    // The writer's.
    private final LoggedRecord reading;
    private long readPosition;

    /** A ring of at least {@code capacity} bytes for records without header fields of a template. */
    AccessLogRing(int capacity) {
        this(capacity, List.of(), false);
    }

    /**
     * A ring of at least {@code capacity} bytes for records with these header fields.
     *
     * @param showsTls whether records have the texts about the client's TLS connection
     */
    AccessLogRing(int capacity, List<LogCapture> captures, boolean showsTls) {
        this.showsTls = showsTls;
        this.captures = captures.toArray(new LogCapture[0]);
        int length = Integer.highestOneBit(Math.max(capacity, MIN_BYTES) - 1) << 1;
        bytes = new byte[length];
        mask = length - 1;
        writing = new AccessLogRecord(bytes);
        reading = new LoggedRecord(bytes);
    }

    /**
     * The record to fill, empty, or null when the ring is full; then the drop is counted and nothing else is to be done.
     * A record that is not published is forgotten at the next claim. The same object serves every record of this ring.
     */
    public @Nullable AccessLogRecord claim() {
        long position = publishedPosition;
        int toEnd = bytes.length - (int) (position & mask);
        int wanted = AccessLogRecord.MAX_LENGTH;
        if (toEnd < wanted) {
            wanted += toEnd;
        }
        if (!hasRoom(position, wanted)) {
            OFFERED.setOpaque(this, offered + 1);
            DROPPED.setOpaque(this, dropped + 1);
            return null;
        }
        if (toEnd < AccessLogRecord.MAX_LENGTH) {
            INTS.set(bytes, (int) (position & mask), PADDING);
            position += toEnd;
        }
        claimedPosition = position;
        writing.begin((int) (position & mask));
        return writing;
    }

    private boolean hasRoom(long position, int wanted) {
        if (position + wanted - knownReadPosition <= bytes.length) {
            return true;
        }
        knownReadPosition = (long) READ_POSITION.getAcquire(this);
        return position + wanted - knownReadPosition <= bytes.length;
    }

    /** The header fields that each record is to carry; borrowed, and never to be changed. */
    public LogCapture[] captures() {
        return captures;
    }

    /** Whether records need the texts about the client's TLS connection. */
    public boolean showsTls() {
        return showsTls;
    }

    /** Hands the claimed record to the writer. */
    public void publish() {
        int length = writing.end();
        OFFERED.setOpaque(this, offered + 1);
        PUBLISHED_POSITION.setRelease(this, claimedPosition + length);
    }

    /** Records offered: published or dropped. */
    public long offered() {
        return (long) OFFERED.getOpaque(this);
    }

    /** Records dropped because the ring was full. */
    public long dropped() {
        return (long) DROPPED.getOpaque(this);
    }

    /** Reads published records until none is left or the reader stops. Returns how many were read. */
    int drain(Reader reader) {
        long end = (long) PUBLISHED_POSITION.getAcquire(this);
        long position = readPosition;
        int count = 0;
        boolean wantsMore = true;
        while (position < end && wantsMore) {
            int index = (int) (position & mask);
            int length = (int) INTS.get(bytes, index);
            if (length == PADDING) {
                position += bytes.length - index;
                continue;
            }
            reading.wrap(index);
            wantsMore = reader.read(reading);
            position += length;
            count++;
        }
        READ_POSITION.setRelease(this, position);
        return count;
    }

    /** Whether the writer has read all that was published. */
    boolean isEmpty() {
        return (long) READ_POSITION.getOpaque(this) == (long) PUBLISHED_POSITION.getAcquire(this);
    }
}
