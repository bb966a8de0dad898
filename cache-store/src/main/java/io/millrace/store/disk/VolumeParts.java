package io.millrace.store.disk;

import io.millrace.store.disk.segment.ReaderLists;
import io.millrace.store.disk.segment.SegmentPins;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.index.MappedIndex;
import io.millrace.store.io.StoreFile;
import java.io.Closeable;
import java.nio.file.Path;

/**
 * The files and tables of an open volume. The {@link Volume} owns and closes them.
 *
 * @param directory the storage path
 * @param lease the lock by which this process owns the path
 * @param file the file with the segments
 * @param superblock the volume's superblock
 * @param index locations of the volume's records
 * @param table state of the volume's segments
 * @param pins segments pinned by readers in this process
 * @param readers segments read by other processes
 */
public record VolumeParts(
        Path directory,
        Closeable lease,
        StoreFile file,
        Superblock superblock,
        MappedIndex index,
        SegmentTable table,
        SegmentPins pins,
        ReaderLists readers) {
    /** Name of the file with superblock and segments. */
    public static final String FILE_NAME = "volume";
}
