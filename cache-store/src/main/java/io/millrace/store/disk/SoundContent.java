package io.millrace.store.disk;

import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Which content was read and found sound since the volume was opened, and whether it is in the page cache still: what both
 * holds for may be sent from the file.
 *
 * <p>For each segment there is a table of 32-bit marks, two for each {@link RecordHeader#CHUNK_BYTES} of it: one of the chunk of
 * that length that starts there, of which there is at most one, and one of a shorter one. A mark is a hash of whose content it is,
 * of the chunk's number, and of the segment's tag: so what a damaged index names, or a segment that was given up since, has
 * none. Segments are mapped for asking the system whether a page is there (mincore) and never accessed.
 *
 * <p>Thread-safe.
 */
final class SoundContent {
    private final StoreFile file;
    private final Superblock superblock;
    private final int places;
    private final AtomicReferenceArray<@Nullable Marks> segments;

    private record Marks(AtomicIntegerArray marks, StoreFile.@Nullable MappedRegion pages) {}

    SoundContent(StoreFile file, Superblock superblock, int segmentCount) {
        this.file = file;
        this.superblock = superblock;
        places = superblock.segmentBytes() / RecordHeader.CHUNK_BYTES + 1;
        segments = new AtomicReferenceArray<>(segmentCount);
    }

    /**
     * A chunk was found sound. May map the segment.
     *
     * @param at where it starts in the segment
     * @param length of the chunk
     */
    void add(int segment, long tag, ContentRange of, int chunk, long at, int length) {
        if (!file.hasDescriptor() || segment >= segments.length()) {
            return;
        }
        Marks known = segments.get(segment);
        AtomicIntegerArray marks = (known == null ? map(segment) : known).marks();
        int place = 2 * place(at) + (length == RecordHeader.CHUNK_BYTES ? 0 : 1);
        marks.lazySet(place, mark(tag, of, chunk));
    }

    private static int place(long at) {
        return (int) (at / RecordHeader.CHUNK_BYTES);
    }

    private Marks map(int segment) {
        StoreFile.MappedRegion pages = null;
        try {
            pages = file.map(superblock.segmentPosition(segment), superblock.segmentBytes());
        } catch (IOException e) {
            // Then nothing tells that its pages are there, and it is read.
        }
        Marks made = new Marks(new AtomicIntegerArray(2 * places), pages);
        Marks before = segments.compareAndExchange(segment, null, made);
        return before == null ? made : before;
    }

    /**
     * Bytes from {@code range.from()} on, at most {@code range.length()}, that are known to be sound.
     *
     * @param content where the record's content starts in the segment
     */
    int soundBytes(int segment, long tag, long content, ContentRange range) {
        Marks known = segment < segments.length() ? segments.get(segment) : null;
        if (known == null) {
            return 0;
        }
        long end = (long) range.from() + range.length();
        long sound = range.from();
        while (sound < end) {
            int chunk = (int) (sound / RecordHeader.CHUNK_BYTES);
            long start = (long) chunk * RecordHeader.CHUNK_BYTES;
            if (!has(known.marks(), place(content + start), mark(tag, range, chunk))) {
                break;
            }
            sound = Math.min(end, start + RecordHeader.CHUNK_BYTES);
        }
        return (int) (sound - range.from());
    }

    private boolean has(AtomicIntegerArray marks, int place, int mark) {
        return place < places && (marks.get(2 * place) == mark || marks.get(2 * place + 1) == mark);
    }

    /** Whether the page of that byte is in the page cache. */
    boolean isResident(int segment, int offset) {
        Marks known = segments.get(segment);
        StoreFile.MappedRegion pages = known == null ? null : known.pages();
        return pages != null && pages.isResident(offset);
    }

    private static int mark(long tag, ContentRange of, int chunk) {
        long part = ((long) of.block() << 32) | chunk;
        long mixed = (of.objectId() + 0x9E37_79B9_7F4A_7C15L * part) * 0xD6E8_FEB8_6659_FD93L;
        mixed = (mixed ^ (mixed >>> 32) ^ tag) * 0xD6E8_FEB8_6659_FD93L;
        return (int) (mixed >>> 32) | 1;
    }
}
