package io.millrace.store.inventory;

import io.millrace.store.io.Checksums;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A record that an inventory (table of stored objects) was closed cleanly. The record is in a separate file, because a
 * killed process leaves locks in the file of the map. Little-endian:
 *
 * <pre>
 *    0  8  magic "MRINVEN\0"
 *    8  4  format version
 *   12  4  flags: 1 forced to the device, 2 every stored object has an entry
 *   16 16  id of the volume
 *   32 16  boot id of the machine at the close
 *   48  8  number of entries for which the map has space
 *   56  8  sequence of the last record of the volume at the close
 *   64  4  CRC32C of the map's file; 0 if it was not forced
 *   68  4  CRC32C of bytes 0 to 67
 * </pre>
 *
 * <p>The record is valid if the map was forced to the device, or if the machine was not rebooted since the close.
 * Without a reboot, the pages that are not yet on the device are still in the page cache. Before the map is opened
 * again, the record is overwritten with zeros and the zeros are forced.
 *
 * <p>Immutable.
 *
 * @param entriesMax number of entries for which the map has space
 * @param applied sequence number of the volume's last record at the close
 * @param isWhole whether every stored object had an entry
 * @param isForced whether the map was forced to the device; only then it has a checksum
 * @param crc CRC32C of the map's file; 0 if it was not forced
 */
record InventoryState(long entriesMax, long applied, boolean isWhole, boolean isForced, int crc) {
    static final String FILE_NAME = "inventory.state";

    private static final int BYTES = 72;
    private static final long MAGIC = 0x004e_4556_4e49_524dL;
    private static final int FORMAT_VERSION = 1;
    private static final int FLAG_FORCED = 1;
    private static final int FLAG_WHOLE = 2;

    /** Reads and erases the record; returns null if there is no valid record. */
    static @Nullable InventoryState readAndErase(FileIo io, Path directory, UUID volumeId) throws IOException {
        Path path = directory.resolve(FILE_NAME);
        if (!io.exists(path)) {
            return null;
        }
        try (StoreFile file = io.open(path)) {
            ByteBuffer in = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
            int length = file.read(in, 0);
            file.write(ByteBuffer.allocate(BYTES), 0);
            file.force();
            return length < BYTES ? null : decode(in, volumeId, boot(io));
        }
    }

    private static @Nullable InventoryState decode(ByteBuffer in, UUID volumeId, @Nullable UUID boot) {
        boolean sound = in.getLong(0) == MAGIC
                && in.getInt(8) == FORMAT_VERSION
                && in.getInt(68) == Checksums.crc32c(in, 0, 68)
                && new UUID(in.getLong(16), in.getLong(24)).equals(volumeId);
        int flags = in.getInt(12);
        boolean survived = (flags & FLAG_FORCED) != 0 || new UUID(in.getLong(32), in.getLong(40)).equals(boot);
        return sound && survived
                ? new InventoryState(
                        in.getLong(48),
                        in.getLong(56),
                        (flags & FLAG_WHOLE) != 0,
                        (flags & FLAG_FORCED) != 0,
                        in.getInt(64))
                : null;
    }

    /** Writes the record, and forces it if the map was forced. */
    void write(FileIo io, Path directory, UUID volumeId) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        UUID boot = boot(io);
        out.putLong(0, MAGIC).putInt(8, FORMAT_VERSION);
        out.putInt(12, (isForced ? FLAG_FORCED : 0) | (isWhole ? FLAG_WHOLE : 0));
        out.putLong(16, volumeId.getMostSignificantBits()).putLong(24, volumeId.getLeastSignificantBits());
        if (boot != null) {
            out.putLong(32, boot.getMostSignificantBits()).putLong(40, boot.getLeastSignificantBits());
        }
        out.putLong(48, entriesMax).putLong(56, applied);
        out.putInt(64, crc);
        out.putInt(68, Checksums.crc32c(out, 0, 68));
        try (StoreFile file = io.open(directory.resolve(FILE_NAME))) {
            file.write(out, 0);
            if (isForced) {
                file.force();
            }
        }
    }

    private static @Nullable UUID boot(FileIo io) {
        String id = io.bootId();
        return id.isEmpty() ? null : UUID.nameUUIDFromBytes(id.getBytes(StandardCharsets.US_ASCII));
    }
}
