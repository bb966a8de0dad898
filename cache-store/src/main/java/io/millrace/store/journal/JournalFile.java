package io.millrace.store.journal;

import io.millrace.store.io.Checksums;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The file {@code journal} of a storage path: a header and records, such as purges that a restart must apply. Each
 * append is forced to the device. A rewrite writes a new file and renames it. Little-endian:
 *
 * <pre>
 *    0  8  magic "MRJOURN\0"
 *    8  4  version
 *   12  4  zero
 *   16  8  tag, random, repeated in each record of the file
 *   24  4  zero
 *   28  4  CRC32C of bytes 0 to 27
 *   32  records, each at a multiple of 8:
 *
 *        0  4  magic "MRJR"
 *        4  4  length of the content
 *        8  8  tag of the file
 *       16  8  sequence: 1, 2, 3 …
 *       24  8  stamp
 *       32  4  CRC32C of the content
 *       36  4  CRC32C of bytes 0 to 35
 *       40     content, padded with zeros to a multiple of 8
 * </pre>
 *
 * <p>After a crash, the last record may be only partly written: the file ends within the record, or contains zeros in
 * its place. Such a record is dropped, because its append never returned success. Any other inconsistency is damage,
 * and the records after it are lost.
 *
 * <p>Confined to one thread at a time.
 */
public final class JournalFile {
    /** Name of the file in a volume's directory. */
    public static final String FILE_NAME = "journal";

    /** Maximum content of a record, in bytes. */
    public static final int CONTENT_LENGTH_MAX = 4 * 1024;

    static final int HEADER_BYTES = 32;
    static final int RECORD_HEADER_BYTES = 40;
    private static final String NEW_FILE_NAME = "journal.new";
    private static final long MAGIC = 0x004E_5255_4F4A_524DL;
    private static final int RECORD_MAGIC = 0x524A_524D;
    private static final int VERSION = 1;
    /**
     * Maximum length of the file; a longer file counts as damaged. It is more than twice the largest table of
     * invalidations that the proxy stores here.
     */
    private static final long LENGTH_MAX = 128L << 20;

    /** The state of a file when it was read. */
    public enum State {
        /** There is no file. */
        MISSING,
        /** Every record whose append succeeded is present. */
        SOUND,
        /** Records may be lost. */
        DAMAGED
    }

    private final FileIo io;
    private final Path directory;
    private final List<JournalEntry> entries = new ArrayList<>();
    private State state = State.MISSING;
    private String problem = "";
    /** True if the last record may be partly written, so that nothing may be appended. */
    private boolean torn;

    private long tag;
    private long end;
    private long sequence;

    private JournalFile(FileIo io, Path directory) {
        this.io = io;
        this.directory = directory;
    }

    /** Reads the file of a directory. An unreadable file counts as damaged. */
    public static JournalFile read(FileIo io, Path directory) {
        JournalFile journal = new JournalFile(io, directory);
        Path path = journal.path();
        if (!io.exists(path)) {
            return journal;
        }
        try (StoreFile file = io.openForReading(path)) {
            journal.decode(file);
        } catch (IOException e) {
            journal.markDamaged(e.toString());
        }
        return journal;
    }

    /** Returns the path of the file. */
    public Path path() {
        return directory.resolve(FILE_NAME);
    }

    /** Returns the state of the file when it was read or rewritten. */
    public State state() {
        return state;
    }

    /** Returns the description of the damage; empty if the file is not damaged. */
    public String problem() {
        return problem;
    }

    /**
     * Returns the records that were read, and removes them from this object. For a damaged file these are the records
     * before the damage.
     */
    public List<JournalEntry> takeEntries() {
        List<JournalEntry> found = List.copyOf(entries);
        entries.clear();
        return found;
    }

    /** Returns true if records may be appended; otherwise the file must be {@link #rewrite rewritten} first. */
    public boolean isAppendable() {
        return state == State.SOUND && !torn;
    }

    /** Returns the length of the file in bytes. */
    public long length() {
        return end;
    }

    private void markDamaged(String why) {
        state = State.DAMAGED;
        problem = why;
    }

    private void decode(StoreFile file) throws IOException {
        long length = file.length();
        if (length < HEADER_BYTES || length > LENGTH_MAX) {
            markDamaged("invalid length: actual=" + length + ", limit=" + LENGTH_MAX);
            return;
        }
        ByteBuffer in = ByteBuffer.allocate((int) length).order(ByteOrder.LITTLE_ENDIAN);
        int bytesRead = file.read(in, 0);
        boolean sound = bytesRead == length && in.getLong(0) == MAGIC && in.getInt(28) == Checksums.crc32c(in, 0, 28);
        if (!sound || in.getInt(8) != VERSION) {
            markDamaged(sound ? "format version: actual=" + in.getInt(8) + ", expected=" + VERSION : "invalid header");
            return;
        }
        state = State.SOUND;
        tag = in.getLong(16);
        end = HEADER_BYTES;
        while (state == State.SOUND && !torn && end < length) {
            decodeRecord(in, (int) end, (int) length);
        }
    }

    private void decodeRecord(ByteBuffer in, int at, int length) {
        int remaining = length - at;
        if (remaining < RECORD_HEADER_BYTES || isZero(in, at, length)) {
            torn = true;
            return;
        }
        boolean validHeader = in.getInt(at) == RECORD_MAGIC
                && in.getLong(at + 8) == tag
                && in.getLong(at + 16) == sequence + 1
                && in.getInt(at + 36) == Checksums.crc32c(in, at, 36);
        int contentLength = in.getInt(at + 4);
        if (!validHeader || contentLength < 0 || contentLength > CONTENT_LENGTH_MAX) {
            markDamaged("invalid record at byte " + at);
        } else if (remaining < RECORD_HEADER_BYTES + padded(contentLength)) {
            torn = true;
        } else if (in.getInt(at + 32) != Checksums.crc32c(in, at + RECORD_HEADER_BYTES, contentLength)) {
            markDamaged("wrong checksum of the record at byte " + at);
        } else {
            byte[] content = new byte[contentLength];
            in.get(at + RECORD_HEADER_BYTES, content);
            entries.add(new JournalEntry(in.getLong(at + 24), content));
            sequence++;
            end = (long) at + RECORD_HEADER_BYTES + padded(contentLength);
        }
    }

    private static boolean isZero(ByteBuffer in, int from, int to) {
        for (int i = from; i < to; i++) {
            if (in.get(i) != 0) {
                return false;
            }
        }
        return true;
    }

    private static int padded(int length) {
        return (length + 7) & -8;
    }

    /**
     * Appends records and forces them to the device. After a failure the file must be rewritten.
     *
     * @throws IOException if the records may not be on the device
     */
    public void append(List<JournalEntry> added) throws IOException {
        if (!isAppendable()) {
            throw new IllegalStateException(path() + ": the journal must be rewritten first");
        }
        torn = true;
        ByteBuffer out = encoded(added, 0, sequence, tag);
        try (StoreFile file = io.open(path())) {
            file.write(out, end);
            file.force();
        }
        end += out.capacity();
        sequence += added.size();
        torn = false;
    }

    /** Replaces the file durably by one with these records. The old file remains until the new one is complete. */
    public void rewrite(List<JournalEntry> all) throws IOException {
        // Until the rename is durable, a crash may leave either of the two files.
        torn = true;
        long newTag = ThreadLocalRandom.current().nextLong();
        ByteBuffer out = encoded(all, HEADER_BYTES, 0, newTag);
        out.putLong(0, MAGIC).putInt(8, VERSION).putLong(16, newTag).putInt(28, Checksums.crc32c(out, 0, 28));
        Path newPath = directory.resolve(NEW_FILE_NAME);
        io.delete(newPath);
        try (StoreFile file = io.open(newPath)) {
            file.write(out, 0);
            file.force();
        }
        io.rename(newPath, path());
        io.force(directory);
        state = State.SOUND;
        torn = false;
        tag = newTag;
        end = out.capacity();
        sequence = all.size();
    }

    private static ByteBuffer encoded(List<JournalEntry> added, int headerBytes, long sequenceBefore, long tag) {
        int length = headerBytes;
        for (JournalEntry entry : added) {
            if (entry.content().length > CONTENT_LENGTH_MAX) {
                throw new IllegalArgumentException(
                        "record of " + entry.content().length + " bytes, limit=" + CONTENT_LENGTH_MAX);
            }
            length += RECORD_HEADER_BYTES + padded(entry.content().length);
        }
        ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        int at = headerBytes;
        long sequence = sequenceBefore;
        for (JournalEntry entry : added) {
            byte[] content = entry.content();
            sequence++;
            out.putInt(at, RECORD_MAGIC).putInt(at + 4, content.length);
            out.putLong(at + 8, tag).putLong(at + 16, sequence).putLong(at + 24, entry.stamp());
            out.put(at + RECORD_HEADER_BYTES, content);
            out.putInt(at + 32, Checksums.crc32c(out, at + RECORD_HEADER_BYTES, content.length));
            out.putInt(at + 36, Checksums.crc32c(out, at, 36));
            at += RECORD_HEADER_BYTES + padded(content.length);
        }
        return out;
    }
}
