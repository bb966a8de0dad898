package io.millrace.store.index;

import io.millrace.store.io.Checksums;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of an index table. This class checks whether an existing file is valid, and replaces it by a new one.
 *
 * <p>A new table is created in the file {@value #NEW_NAME}, filled while the old table remains in use, and renamed at
 * the end. If the process is killed before the rename, the old table is still complete.
 *
 * <p>Confined to one thread.
 */
final class IndexFile implements TableSource {
    static final String NAME = "index";
    /** Log2 of the minimum number of slots. */
    static final int SHIFT_MIN = 7;
    /** Log2 of the maximum number of slots. */
    static final int SHIFT_MAX = 36;
    /** Value of the clean mark and of the complete mark in the header, if they are set. */
    static final long MARK = 0x4e41_454c_4321L;

    private static final Logger LOG = LoggerFactory.getLogger(IndexFile.class);
    private static final String NEW_NAME = "index.new";
    private static final int ZEROES_BYTES = 256 * 1024;

    private final FileIo io;
    private final Path directory;
    private final UUID volumeId;
    private final int auxiliaryBytes;

    IndexFile(FileIo io, Path directory, UUID volumeId, int auxiliaryBytes) {
        this.io = io;
        this.directory = directory;
        this.volumeId = volumeId;
        this.auxiliaryBytes = auxiliaryBytes;
    }

    /** Creates an empty table that replaces any existing one. */
    SlotTable create(int shift) throws IOException {
        NewTable builder = begin(shift);
        SlotTable table = null;
        while (table == null) {
            table = builder.step(ZEROES_BYTES);
        }
        builder.replace();
        return table;
    }

    /** Maps the existing table and removes its clean mark, which an orderly close sets. */
    SlotTable open() throws IOException {
        deleteNew();
        SlotTable table = map();
        UUID boot = bootId();
        boolean sameBoot = boot.getMostSignificantBits() != 0
                && table.field(SlotTable.BOOT_ID_AT) == boot.getMostSignificantBits()
                && table.field(SlotTable.BOOT_ID_AT + 8) == boot.getLeastSignificantBits();
        if (!sameBoot && table.field(SlotTable.CLEAN_AT) != MARK) {
            throw new IndexUnusableException(path() + ": the index was not closed before the machine stopped");
        }
        checkComplete(table);
        if (table.isDamaged()) {
            throw new IndexUnusableException(path() + ": the index has damaged slots");
        }
        table.field(SlotTable.CLEAN_AT, 0);
        writeHeader(table, boot);
        // The header page is forced now. Otherwise the clean mark of the last close could still be on the device after
        // a power failure.
        table.forceHead();
        return table;
    }

    /** Maps the existing table and does not change it. */
    SlotTable view() throws IOException {
        SlotTable table = map();
        checkComplete(table);
        return table;
    }

    private Path path() {
        return directory.resolve(NAME);
    }

    private void deleteNew() {
        try {
            io.delete(directory.resolve(NEW_NAME));
        } catch (IOException e) {
            // The file uses space but has no other effect; the next begin() deletes it.
            LOG.debug("{}: {}", directory.resolve(NEW_NAME), e.toString());
        }
    }

    private SlotTable map() throws IOException {
        Path path = path();
        if (!io.exists(path)) {
            throw new IndexUnusableException(path + ": missing");
        }
        try (StoreFile file = io.open(path)) {
            return map(file, checkHeader(path, file));
        }
    }

    private SlotTable map(StoreFile file, int shift) throws IOException {
        long headBytes = SlotTable.headBytes(auxiliaryBytes);
        MappedMemory slots = MappedMemory.map(file, headBytes, SlotTable.slotBytes(shift));
        return new SlotTable(MappedMemory.map(file, 0, headBytes), slots, auxiliaryBytes, shift);
    }

    private void checkComplete(SlotTable table) throws IndexUnusableException {
        if (table.field(SlotTable.COMPLETE_AT) != MARK) {
            throw new IndexUnusableException(path() + ": the index was not built completely");
        }
    }

    private int checkHeader(Path path, StoreFile file) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(SlotTable.PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        int length = file.read(header, 0);
        if (length < SlotTable.PAGE_BYTES) {
            throw new IndexUnusableException(
                    path + ": length actual=" + length + ", minimum=" + SlotTable.PAGE_BYTES + " bytes");
        }
        expect(path, "magic", header.getLong(SlotTable.MAGIC_AT), SlotTable.MAGIC);
        expect(path, "format version", header.getInt(SlotTable.VERSION_AT), SlotTable.FORMAT_VERSION);
        int crc = Checksums.crc32c(header, 0, SlotTable.STATIC_HEADER_BYTES);
        expect(path, "header CRC32C", header.getInt(SlotTable.CRC_AT), crc);
        expect(path, "volume id", header.getLong(SlotTable.VOLUME_ID_AT), volumeId.getMostSignificantBits());
        expect(path, "volume id", header.getLong(SlotTable.VOLUME_ID_AT + 8), volumeId.getLeastSignificantBits());
        expect(path, "auxiliary bytes", header.getLong(SlotTable.AUXILIARY_BYTES_AT), auxiliaryBytes);
        int shift = header.getInt(SlotTable.SHIFT_AT);
        if (shift < SHIFT_MIN || shift > SHIFT_MAX) {
            throw new IndexUnusableException(
                    path + ": log2 of slots actual=" + shift + ", expected=" + SHIFT_MIN + " to " + SHIFT_MAX);
        }
        expect(path, "length", file.length(), fileBytes(shift));
        return shift;
    }

    private long fileBytes(int shift) {
        return SlotTable.headBytes(auxiliaryBytes) + SlotTable.slotBytes(shift);
    }

    private static void expect(Path path, String what, long actual, long expected) throws IndexUnusableException {
        if (actual != expected) {
            throw new IndexUnusableException(path + ": " + what + " actual=" + actual + ", expected=" + expected);
        }
    }

    private void writeHeader(SlotTable table, UUID boot) {
        ByteBuffer header = ByteBuffer.allocate(SlotTable.CLEAN_AT).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(SlotTable.MAGIC_AT, SlotTable.MAGIC);
        header.putInt(SlotTable.VERSION_AT, SlotTable.FORMAT_VERSION);
        header.putInt(SlotTable.SHIFT_AT, table.shift);
        header.putLong(SlotTable.VOLUME_ID_AT, volumeId.getMostSignificantBits());
        header.putLong(SlotTable.VOLUME_ID_AT + 8, volumeId.getLeastSignificantBits());
        header.putLong(SlotTable.AUXILIARY_BYTES_AT, auxiliaryBytes);
        header.putLong(SlotTable.BOOT_ID_AT, boot.getMostSignificantBits());
        header.putLong(SlotTable.BOOT_ID_AT + 8, boot.getLeastSignificantBits());
        header.putInt(SlotTable.CRC_AT, Checksums.crc32c(header, 0, SlotTable.STATIC_HEADER_BYTES));
        for (int at = 0; at < SlotTable.CLEAN_AT; at += Long.BYTES) {
            table.header(at, header.getLong(at));
        }
    }

    private UUID bootId() {
        try {
            return UUID.fromString(io.bootId());
        } catch (IllegalArgumentException e) {
            return new UUID(0, 0);
        }
    }

    @Override
    public NewTable begin(int shift) throws IOException {
        Path path = directory.resolve(NEW_NAME);
        io.delete(path);
        return new TableBuilder(io.open(path), shift);
    }

    private final class TableBuilder implements NewTable {
        private final StoreFile file;
        private final int shift;
        private final long length;
        private final ByteBuffer zeroes = ByteBuffer.allocateDirect(ZEROES_BYTES);
        private long at;

        TableBuilder(StoreFile file, int shift) {
            this.file = file;
            this.shift = shift;
            length = fileBytes(shift);
        }

        @Override
        public @Nullable SlotTable step(int bytes) throws IOException {
            if (at < length) {
                // The zeros are written explicitly. On a full disk, the first store into a hole of a mapped file would
                // raise SIGBUS.
                int count = (int) Math.min(Math.min(bytes, ZEROES_BYTES), length - at);
                file.write(zeroes.clear().limit(count), at);
                at += count;
                return null;
            }
            SlotTable table = map(file, shift);
            writeHeader(table, bootId());
            file.close();
            return table;
        }

        @Override
        public void replace() throws IOException {
            io.rename(directory.resolve(NEW_NAME), path());
        }

        @Override
        public void discard() {
            try {
                file.close();
            } catch (IOException e) {
                LOG.debug("{}: {}", directory.resolve(NEW_NAME), e.toString());
            }
            deleteNew();
        }
    }
}
