package io.millrace.proxy.observe.log.live;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A queue of copied records with two limits: number and bytes. A new record replaces the oldest records. Not
 * thread-safe.
 */
final class RecordQueue {
    private final int bytesMax;
    private final Deque<NumberedRecord> records = new ArrayDeque<>();
    private long bytes;
    private long lastNumber;

    /** @param bytesMax limit of bytes of all records together */
    RecordQueue(int bytesMax) {
        this.bytesMax = bytesMax;
    }

    /**
     * Adds a record.
     *
     * @param delivered number of the last record that was delivered; 0 for none
     * @return the number of replaced records that were not delivered
     */
    int add(byte[] record, int recordsMax, long delivered) {
        lastNumber++;
        records.addLast(new NumberedRecord(lastNumber, record));
        bytes += record.length;
        return trim(recordsMax, delivered);
    }

    /** Removes the oldest records above the limits. Returns the number of removed records that were not delivered. */
    int trim(int recordsMax, long delivered) {
        int lost = 0;
        while (!records.isEmpty() && (records.size() > recordsMax || bytes > bytesMax)) {
            NumberedRecord removed = records.removeFirst();
            bytes -= removed.bytes().length;
            lost += removed.number() > delivered ? 1 : 0;
        }
        return lost;
    }

    /** Returns the number of the last record; 0 before the first. */
    long lastNumber() {
        return lastNumber;
    }

    /** Removes the records up to a number. */
    void confirm(long number) {
        while (!records.isEmpty() && records.getFirst().number() <= number) {
            bytes -= records.removeFirst().bytes().length;
        }
    }

    boolean isEmpty() {
        return records.isEmpty();
    }

    /** Returns the records, oldest first. */
    List<NumberedRecord> all() {
        return List.copyOf(records);
    }

    /** Returns the records, newest first. */
    List<NumberedRecord> newestFirst() {
        List<NumberedRecord> reversed = new ArrayList<>(records.size());
        records.descendingIterator().forEachRemaining(reversed::add);
        return reversed;
    }
}
