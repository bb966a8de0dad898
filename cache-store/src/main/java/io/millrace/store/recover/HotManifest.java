package io.millrace.store.recover;

import io.millrace.store.io.Checksums;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import io.millrace.store.memory.HottestKeys;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file {@code hot}: the key hashes of objects in the RAM tier, most requested first. After a restart, the store
 * loads these objects into the RAM tier. An object may have been removed in the meantime; the store looks up each hash
 * in the index.
 *
 * <pre>
 *    0   8  magic "MRHOTSET"
 *    8   4  version
 *   12   4  count
 *   16   8  seed of the store's key hash
 *   24   4  number of hashes, from the first, of objects that were requested again after they were stored
 *   28   4  1 if the field before is set; 0 in files of earlier versions
 *   32  16 * count   hash: high, low
 *    .   4  CRC32C of all preceding bytes
 * </pre>
 *
 * <p>Little-endian. Written to a new file, forced, and renamed. A file that is damaged, or belongs to another store,
 * counts as empty.
 *
 * <p>Stateless.
 */
public final class HotManifest {
    /** Name of the file in a volume's directory. */
    public static final String FILE_NAME = "hot";

    /** Maximum number of keys in the file, so that the file is at most about 4 MiB. */
    public static final int KEYS_MAX = 1 << 18;

    private static final Logger LOG = LoggerFactory.getLogger(HotManifest.class);
    private static final String NEW_FILE_NAME = "hot.new";
    private static final long MAGIC = 0x5445_5354_4F48_524DL;
    private static final int VERSION = 1;
    private static final int HEADER_BYTES = 32;
    private static final int HASH_BYTES = 16;

    private HotManifest() {}

    /**
     * Replaces the file in the directory.
     *
     * @param keys at most {@link #KEYS_MAX} keys
     */
    public static void write(FileIo io, Path directory, long hashSeed, HottestKeys keys) throws IOException {
        int count = keys.count();
        int end = HEADER_BYTES + count * HASH_BYTES;
        ByteBuffer out = ByteBuffer.allocate(end + Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(0, MAGIC).putInt(8, VERSION).putInt(12, count).putLong(16, hashSeed);
        out.putInt(24, keys.requestedAgain()).putInt(28, 1);
        out.position(HEADER_BYTES);
        for (long hash : keys.hashes()) {
            out.putLong(hash);
        }
        out.putInt(Checksums.crc32c(out, 0, end));
        Path newPath = directory.resolve(NEW_FILE_NAME);
        try (StoreFile file = io.open(newPath)) {
            file.resize(out.capacity());
            file.write(out.flip(), 0);
            file.force();
        }
        io.rename(newPath, directory.resolve(FILE_NAME));
    }

    /** Returns the keys of the file. Empty if there is no valid file of this store. */
    public static HottestKeys read(FileIo io, Path directory, long hashSeed) {
        Path path = directory.resolve(FILE_NAME);
        if (!io.exists(path)) {
            return HottestKeys.NONE;
        }
        try (StoreFile file = io.openForReading(path)) {
            return decode(path, file, hashSeed);
        } catch (IOException e) {
            LOG.warn(
                    "{}: the list of the most requested objects cannot be read, so the RAM tier starts empty: {}",
                    path,
                    e.toString());
            return HottestKeys.NONE;
        }
    }

    private static HottestKeys decode(Path path, StoreFile file, long hashSeed) throws IOException {
        long length = file.length();
        if (length < HEADER_BYTES + Integer.BYTES || length > HEADER_BYTES + (long) KEYS_MAX * HASH_BYTES + 4) {
            LOG.warn("{}: the file has an invalid length of {} bytes, so the RAM tier starts empty", path, length);
            return HottestKeys.NONE;
        }
        ByteBuffer in = ByteBuffer.allocate((int) length).order(ByteOrder.LITTLE_ENDIAN);
        int readBytes = file.read(in, 0);
        int count = in.getInt(12);
        int end = (int) length - Integer.BYTES;
        boolean sound = readBytes == length
                && in.getLong(0) == MAGIC
                && in.getInt(8) == VERSION
                && count >= 0
                && HEADER_BYTES + (long) count * HASH_BYTES == end
                && in.getInt(end) == Checksums.crc32c(in, 0, end);
        if (!sound || in.getLong(16) != hashSeed) {
            LOG.warn(
                    "{}: the file {}, so the RAM tier starts empty",
                    path,
                    sound ? "belongs to another store" : "is damaged");
            return HottestKeys.NONE;
        }
        long[] hashes = new long[count * 2];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = in.getLong(HEADER_BYTES + i * Long.BYTES);
        }
        // An earlier version listed the objects without this number, and loaded all of them like the most requested
        // ones.
        int requestedAgain = in.getInt(28) == 0 ? count : Math.max(0, Math.min(in.getInt(24), count));
        return new HottestKeys(hashes, requestedAgain);
    }
}
