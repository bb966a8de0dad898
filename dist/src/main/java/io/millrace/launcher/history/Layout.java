package io.millrace.launcher.history;

import io.millrace.proxy.admin.history.HistorySource.Archive;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The layout of a history file: its archives and its header.
 *
 * <pre>
 * header (4096): "MRHISTO1" (8) | length of a slot (4) | number of archives (4)
 *                | for each: step in seconds (8), steps (4) | CRC-32C of the bytes before (4)
 * slots of the first archive | slots of the second archive | ...
 * </pre>
 * Immutable.
 *
 * @param archives archives in the order of their step lengths, the shortest first
 */
record Layout(List<Archive> archives) {
    static final int HEADER_BYTES = 4096;

    private static final long MAGIC = 0x4d52_4849_5354_4f31L;
    private static final int ARCHIVES_MAX = 16;

    /** Steps of 10 s for somewhat more than an hour. */
    private static final Archive HOUR = new Archive(10, 400);

    /** Steps of a minute for somewhat more than a day. */
    private static final Archive DAY = new Archive(60, 1500);

    /** Step length of the archive that takes the remaining space. */
    private static final long REST_STEP_SECONDS = 600;

    Layout {
        archives = List.copyOf(archives);
    }

    /**
     * Returns the layout of a file of this size. The archive with the longest step gets the space that the others
     * leave.
     */
    static Layout ofSize(long bytes) {
        long slots = (bytes - HEADER_BYTES) / Slot.BYTES - HOUR.steps() - DAY.steps();
        return new Layout(List.of(HOUR, DAY, new Archive(REST_STEP_SECONDS, (int) Math.max(1, slots))));
    }

    /** Size of the file in bytes. */
    long bytes() {
        return HEADER_BYTES
                + (long) Slot.BYTES
                        * archives.stream().mapToLong(Archive::steps).sum();
    }

    /** Position of the first slot of an archive in the file. */
    long position(Archive archive) {
        long position = HEADER_BYTES;
        for (Archive before : archives.subList(0, archives.indexOf(archive))) {
            position += (long) before.steps() * Slot.BYTES;
        }
        return position;
    }

    /** Position of the slot of a step that begins at this time. */
    long position(Archive archive, long atSeconds) {
        long index = Math.floorMod(atSeconds / archive.stepSeconds(), (long) archive.steps());
        return position(archive) + index * Slot.BYTES;
    }

    /** Returns the header, ready to be written. */
    ByteBuffer encoded() {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        header.putLong(MAGIC).putInt(Slot.BYTES).putInt(archives.size());
        for (Archive archive : archives) {
            header.putLong(archive.stepSeconds()).putInt(archive.steps());
        }
        header.putInt(crc(header, header.position()));
        return header.position(0).limit(HEADER_BYTES);
    }

    /** Parses a header. Returns null if it is damaged or of another version. */
    static @Nullable Layout parse(ByteBuffer header) {
        if (header.remaining() < HEADER_BYTES || header.getLong() != MAGIC || header.getInt() != Slot.BYTES) {
            return null;
        }
        int count = header.getInt();
        if (count < 1 || count > ARCHIVES_MAX) {
            return null;
        }
        List<Archive> archives = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Archive archive = new Archive(header.getLong(), header.getInt());
            if (archive.stepSeconds() < 1 || archive.steps() < 1) {
                return null;
            }
            archives.add(archive);
        }
        int end = header.position();
        return header.getInt() == crc(header, end) ? new Layout(archives) : null;
    }

    private static int crc(ByteBuffer header, int length) {
        CRC32C crc = new CRC32C();
        crc.update(header.duplicate().position(0).limit(length));
        return (int) crc.getValue();
    }
}
