package io.millrace.launcher.history;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes one time step of an archive. Stateless.
 *
 * <pre>
 * time at which the step begins, seconds since 1970 (8) | measured time, ms (4) | CRC-32C of all other bytes (4)
 * | 7 counters (8 each) | 3 histograms of 22 buckets (4 each, unsigned)
 * </pre>
 *
 * <p>Numbers are big endian. The checksum detects a slot that was only partly written at a power failure. Such a
 * slot counts as empty.
 */
final class Slot {
    /** Length in bytes. */
    static final int BYTES = 16 + Figures.COUNTS * Long.BYTES + Figures.HISTOGRAMS * Figures.BUCKETS * Integer.BYTES;

    private static final int CRC_AT = 12;
    private static final long UNSIGNED_MAX = 0xffff_ffffL;

    private Slot() {}

    /** Returns the bytes of a step, ready to be written. */
    static ByteBuffer encoded(long atSeconds, Figures figures) {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.putLong(atSeconds);
        bytes.putInt((int) Math.min(Integer.MAX_VALUE, figures.measuredMillis()));
        bytes.putInt(0);
        for (int i = 0; i < Figures.COUNTS; i++) {
            bytes.putLong(figures.count(i));
        }
        for (int h = 0; h < Figures.HISTOGRAMS; h++) {
            for (int i = 0; i < Figures.BUCKETS; i++) {
                bytes.putInt((int) Math.min(UNSIGNED_MAX, figures.bucket(h, i)));
            }
        }
        bytes.putInt(CRC_AT, crc(bytes));
        return bytes.flip();
    }

    /** Returns the time at which the step in a slot begins, in seconds since 1970. Does not check the content. */
    static long atSeconds(ByteBuffer slot) {
        return slot.getLong(slot.position());
    }

    /** Returns the figures in a slot; null if it is empty or damaged. */
    static @Nullable Figures decoded(ByteBuffer slot) {
        ByteBuffer bytes = slot.slice(slot.position(), BYTES);
        if (bytes.getLong(0) == 0 || bytes.getInt(CRC_AT) != crc(bytes)) {
            return null;
        }
        Figures figures = new Figures();
        figures.measured(bytes.getInt(Long.BYTES));
        bytes.position(CRC_AT + Integer.BYTES);
        for (int i = 0; i < Figures.COUNTS; i++) {
            figures.add(i, bytes.getLong());
        }
        for (int h = 0; h < Figures.HISTOGRAMS; h++) {
            for (int i = 0; i < Figures.BUCKETS; i++) {
                figures.addBucket(h, i, bytes.getInt() & UNSIGNED_MAX);
            }
        }
        return figures;
    }

    private static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate().position(0).limit(CRC_AT));
        crc.update(bytes.duplicate().position(0).limit(BYTES).position(CRC_AT + Integer.BYTES));
        return (int) crc.getValue();
    }
}
