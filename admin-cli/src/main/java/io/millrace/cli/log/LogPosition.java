package io.millrace.cli.log;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The position up to which a log was read. A hash of the last bytes before the position identifies the file. So the
 * file is found again after a rename, after compression, and after a copy with truncation (copytruncate of logrotate),
 * which change its name or inode. Immutable.
 *
 * @param bytes number of bytes read, uncompressed
 * @param tailHash hash of the last of these bytes, in hexadecimal
 * @param modifiedMillis modification time of the file when it was read, in epoch milliseconds. A file with this time
 *     has no new lines.
 */
record LogPosition(long bytes, String tailHash, long modifiedMillis) {
    /** Number of hashed bytes before the position. Log lines contain times, so 4 KiB of two logs are never equal. */
    private static final int HASHED_BYTES = 4096;

    /** Returns the position after the first {@code bytes} bytes of a file. */
    static LogPosition in(Path file, long bytes, long modifiedMillis) throws IOException {
        String tailHash = tailHashOf(file, bytes);
        if (tailHash == null) {
            throw new IOException(file + " became shorter while it was read");
        }
        return new LogPosition(bytes, tailHash, modifiedMillis);
    }

    /** Returns true if the bytes before this position have the same hash in the file. */
    boolean isIn(Path file) throws IOException {
        return tailHash.equals(tailHashOf(file, bytes));
    }

    /** Opens a file and skips {@code from} bytes of its content; a compressed file is decompressed. */
    static InputStream open(Path file, long from) throws IOException {
        InputStream opened = Files.newInputStream(file);
        try {
            InputStream in = new BufferedInputStream(isCompressed(file) ? new GZIPInputStream(opened) : opened);
            in.skipNBytes(from);
            return in;
        } catch (IOException e) {
            opened.close();
            throw e;
        }
    }

    static boolean isCompressed(Path file) {
        return file.toString().endsWith(".gz");
    }

    /** Returns the hash of the last bytes before a position; null if the file is shorter. */
    private static @Nullable String tailHashOf(Path file, long bytes) throws IOException {
        int hashed = (int) Math.min(HASHED_BYTES, bytes);
        try (InputStream in = open(file, bytes - hashed)) {
            byte[] last = in.readNBytes(hashed);
            return last.length < hashed ? null : hash(last);
        } catch (EOFException e) {
            return null;
        } catch (IOException e) {
            throw LogFailure.of(file, e);
        }
    }

    private static String hash(byte[] bytes) {
        try {
            StringBuilder hex = new StringBuilder();
            for (byte octet : MessageDigest.getInstance("SHA-256").digest(bytes)) {
                hex.append(Character.forDigit((octet >> 4) & 15, 16)).append(Character.forDigit(octet & 15, 16));
            }
            return hex.toString();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
