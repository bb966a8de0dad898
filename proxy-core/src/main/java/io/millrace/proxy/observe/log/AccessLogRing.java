package io.millrace.proxy.observe.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The access log queue of one event loop: a ring buffer without locks and allocation. The event loop adds
 * records, and one log thread removes them. If the ring has no space for a record of maximum length, the record is
 * dropped and counted.
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
 * Only the event loop may call {@link #claim} and {@link #publish}, and only one log thread {@link #drain}. Any
 * thread may read the counts. Fields of both threads share cache lines: padding between them had no measurable
 * effect, because the log thread drains the ring only about fifty times a second.
 */
public final class AccessLogRing {
    static final int MIN_BYTES = 4 * AccessLogRecord.MAX_LENGTH;
    static final int MAX_BYTES = 1 << 28;

    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle READ_POSITION;
    private static final VarHandle PUBLISHED_POSITION;
    private static final VarHandle OFFERED;
    private static final VarHandle DROPPED;

    /** A mark in place of a record length: the next record is at the start of the ring. */
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
        /**
         * Reads one record, which is valid only during the call. Returns false to end {@link #drain} after this
         * record.
         */
        boolean read(LoggedRecord logged);
    }

    /**
     * The optional texts of records: the header fields that log formats use, and the properties of TLS.
     *
     * @param generation number that changes with each set of texts; written into each record
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Contents(int generation, LogCapture[] captures, boolean showsTls) {}

    private final byte[] bytes;
    private final int mask;

    /** Set by the thread that changes the logs. */
    private volatile Contents contents;

    // These fields are used by the event loop.
    /** The optional texts of the claimed record. */
    private Contents claimed;

    private final AccessLogRecord writing;
    private long claimedPosition;
    private long knownReadPosition;
    private long publishedPosition;
    private long offered;
    private long dropped;

    // These fields are used by the log thread.
    private final LoggedRecord reading;
    private long readPosition;

    /** Creates a ring of at least {@code capacity} bytes for records without optional texts. */
    AccessLogRing(int capacity) {
        this(capacity, List.of(), false);
    }

    /**
     * Creates a ring of at least {@code capacity} bytes.
     *
     * @param captures the header fields that log formats use
     * @param showsTls whether records contain the properties of the client's TLS connection
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
     * Changes the optional texts of records that are claimed from now on. Records in the ring lose their header
     * fields when they are read, because these belong to the old log formats. Called by one thread at a time, not by
     * the event loop.
     */
    public void setOptionalTexts(List<LogCapture> captures, boolean showsTls) {
        Contents before = contents;
        contents = new Contents(before.generation() + 1, captures.toArray(new LogCapture[0]), showsTls);
    }

    /**
     * Returns an empty record to fill. Returns null, and counts a dropped record, if the ring is full. A record
     * that is not published is discarded by the next claim. All calls return the same object.
     */
    public @Nullable AccessLogRecord claim() {
        long position = publishedPosition;
        int toEnd = bytes.length - (int) (position & mask);
        int neededBytes = AccessLogRecord.MAX_LENGTH;
        if (toEnd < neededBytes) {
            neededBytes += toEnd;
        }
        if (!hasRoom(position, neededBytes)) {
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

    private boolean hasRoom(long position, int neededBytes) {
        if (position + neededBytes - knownReadPosition <= bytes.length) {
            return true;
        }
        knownReadPosition = (long) READ_POSITION.getAcquire(this);
        return position + neededBytes - knownReadPosition <= bytes.length;
    }

    /** The header fields that the claimed record must contain. The array is borrowed and must not be changed. */
    public LogCapture[] captures() {
        return claimed.captures();
    }

    /** Returns true if the claimed record must contain the properties of the client's TLS connection. */
    public boolean showsTls() {
        return claimed.showsTls();
    }

    /** Makes the claimed record visible to the log thread. */
    public void publish() {
        int length = writing.end();
        OFFERED.setOpaque(this, offered + 1);
        PUBLISHED_POSITION.setRelease(this, claimedPosition + length);
    }

    /** The number of records that were published or dropped. */
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
            // The record keeps only the low 16 bits of the generation.
            if (reading.generation() != (contents.generation() & AccessLogRecord.ORIGIN_STATUS_MASK)) {
                reading.clearHeaderFields();
            }
            wantsMore = reader.read(reading);
            position += length;
            count++;
        }
        READ_POSITION.setRelease(this, position);
        return count;
    }

    /** Returns true if the log thread has read all published records. */
    boolean isEmpty() {
        return (long) READ_POSITION.getOpaque(this) == (long) PUBLISHED_POSITION.getAcquire(this);
    }
}
