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
 * What an open volume is made of; the {@link Volume} that is made from it closes them.
 *
 * @param directory the storage path
 * @param lease says that this process owns it
 * @param file the segments
 * @param superblock what the volume is
 * @param index where its records lie
 * @param table state of its segments
 * @param pins who reads them
 * @param readers who reads them in other processes
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
