package io.millrace.proxy.observe.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The access log queue of one event loop: a ring of bytes that the loop fills and the log writer drains, without locks
 * or allocation. If the ring has no space for a record of maximum length, the record is dropped and counted.
 *
 * <pre>
 *   claim() -> record -> publish()          drain(reader)
 *   +----------+----------+--------+- - - - - - - - - +-----+
 *   | record   | record   | record |   free           | pad |
 *   +----------+----------+--------+- - - - - - - - - +-----+
 *   ^ read                         ^ published              ^ capacity, a power of two
 * </pre>
 *
 * <p>A record is contiguous: if the space before the end is shorter than the longest record, it becomes padding.
 * {@link #claim} and {@link #publish} belong to one event loop, {@link #drain} to one writer thread. The counts may be
 * read by any thread. The fields of both sides share cache lines. The writer drains the ring only about fifty times a
 * second, so that padding had no measurable effect.
 */
public final class AccessLogRing {
    static final int MIN_BYTES = 4 * AccessLogRecord.MAX_LENGTH;
    static final int MAX_BYTES = 1 << 28;

    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle READ_POSITION;
    private static final VarHandle PUBLISHED_POSITION;
    private static final VarHandle OFFERED;
    private static final VarHandle DROPPED;

    /** Replaces the length of a record: skip to the start of the ring. */
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

    /** Receives the records from {@link #drain}. */
    @FunctionalInterface
    public interface Reader {
        /** Reads one record, which is valid only during the call. Returns false to stop after this record. */
        boolean read(LoggedRecord logged);
    }

    /**
     * The texts that records contain besides the fixed ones.
     *
     * @param generation number of the set, written into each record
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Contents(int generation, LogCapture[] captures, boolean showsTls) {}

    private final byte[] bytes;
    private final int mask;

    /** Set by the thread that changes the logs. */
    private volatile Contents contents;

    // Fields of the event loop.
    private Contents claimed;
    private final AccessLogRecord writing;
    private long claimedPosition;
    private long knownReadPosition;
    private long publishedPosition;
    private long offered;
    private long dropped;

    // Fields of the writer.
    private final LoggedRecord reading;
    private long readPosition;

    /** Creates a ring of at least {@code capacity} bytes for records without header fields of a template. */
    AccessLogRing(int capacity) {
        this(capacity, List.of(), false);
    }

    /**
     * Creates a ring of at least {@code capacity} bytes for records with these header fields.
     *
     * @param showsTls whether records contain the texts about the client's TLS connection
     */
    public AccessLogRing(int capacity, List<LogCapture> captures, boolean showsTls) {
        contents = new Contents(0, captures.toArray(new LogCapture[0]), showsTls);
        claimed = contents;
        int length = Integer.highestOneBit(Math.max(capacity, MIN_BYTES) - 1) << 1;
        bytes = new byte[length];
        mask = length - 1;
        writing = new AccessLogRecord(bytes);
        reading = new LoggedRecord(bytes);
    }

    /**
     * Changes the texts of records that are claimed from now on. Records that were claimed before lose the header
     * fields of templates when they are read. Called by one thread at a time, not by the event loop.
     */
    public void contain(List<LogCapture> captures, boolean showsTls) {
        Contents before = contents;
        contents = new Contents(before.generation() + 1, captures.toArray(new LogCapture[0]), showsTls);
    }

    /**
     * Returns an empty record to fill. Returns null if the ring is full; the drop is then already counted. The next
     * claim discards a record that was not published. All calls return the same object.
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
        claimed = contents;
        writing.begin((int) (position & mask), claimed.generation());
        return writing;
    }

    private boolean hasRoom(long position, int wanted) {
        if (position + wanted - knownReadPosition <= bytes.length) {
            return true;
        }
        knownReadPosition = (long) READ_POSITION.getAcquire(this);
        return position + wanted - knownReadPosition <= bytes.length;
    }

    /** The header fields that the claimed record must contain; borrowed, and must not be changed. */
    public LogCapture[] captures() {
        return claimed.captures();
    }

    /** Returns true if the claimed record must contain the texts about the client's TLS connection. */
    public boolean showsTls() {
        return claimed.showsTls();
    }

    /** Makes the claimed record visible to the writer. */
    public void publish() {
        int length = writing.end();
        OFFERED.setOpaque(this, offered + 1);
        PUBLISHED_POSITION.setRelease(this, claimedPosition + length);
    }

    /** The number of records offered: published or dropped. */
    public long offered() {
        return (long) OFFERED.getOpaque(this);
    }

    /** The number of records dropped because the ring was full. */
    public long dropped() {
        return (long) DROPPED.getOpaque(this);
    }

    /** Reads published records until none is left or the reader stops. Returns the number of records read. */
    public int drain(Reader reader) {
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
            if (reading.generation() != (contents.generation() & AccessLogRecord.ORIGIN_STATUS_MASK)) {
                reading.forgetHeaderFields();
            }
            wantsMore = reader.read(reading);
            position += length;
            count++;
        }
        READ_POSITION.setRelease(this, position);
        return count;
    }

    /** Returns true if the writer has read all published records. */
    boolean isEmpty() {
        return (long) READ_POSITION.getOpaque(this) == (long) PUBLISHED_POSITION.getAcquire(this);
    }
}
