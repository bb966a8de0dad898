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
 * How far a log was read: behind this many bytes, of which the last are these. The bytes and not the file's name or number say which
 * file it is, so that it is found again when it was renamed, compressed, or copied and cut. Immutable.
 *
 * @param bytes read, of what is in it when it is not compressed
 * @param mark a hash of the last of them
 * @param modifiedMillis when the file was last written to, in epoch milliseconds; one that was not since has no more
 */
record LogPosition(long bytes, String mark, long modifiedMillis) {
    /** More than any line has in common with another by chance. */
    private static final int MARKED_BYTES = 4096;

    /** In this file, behind {@code bytes}. */
    static LogPosition in(Path file, long bytes, long modifiedMillis) throws IOException {
        String mark = markOf(file, bytes);
        if (mark == null) {
            throw new IOException(file + " became shorter while it was read");
        }
        return new LogPosition(bytes, mark, modifiedMillis);
    }

    /** Whether it is in this file. */
    boolean isIn(Path file) throws IOException {
        return mark.equals(markOf(file, bytes));
    }

    /** What is in a file from a position on; also of a compressed one. */
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

    /** Null where the file is shorter. */
    private static @Nullable String markOf(Path file, long bytes) throws IOException {
        int marked = (int) Math.min(MARKED_BYTES, bytes);
        try (InputStream in = open(file, bytes - marked)) {
            byte[] last = in.readNBytes(marked);
            return last.length < marked ? null : hash(last);
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
