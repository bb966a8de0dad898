package io.millrace.cli.log;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;

/** Recognizes binary access logs. The program {@code bin/millrace} decodes their rows. Stateless. */
public final class BinaryLog {
    /** The first bytes of each block; docs/reference/logs.md describes the layout. */
    private static final byte[] MAGIC = {(byte) 0xf1, 'M', 0, '\n'};

    /**
     * Number of bytes to search for the magic bytes of a block. A block is shorter, so another block begins within this
     * range if the first block is damaged. Text never contains the magic bytes.
     */
    private static final int SEARCHED_BYTES = 128 << 10;

    private BinaryLog() {}

    /** Opens a log of any format. A file whose name ends in {@code .gz} is decompressed. */
    public static BufferedInputStream open(Path file) throws IOException {
        InputStream opened = new BufferedInputStream(Files.newInputStream(file));
        try {
            return new BufferedInputStream(file.toString().endsWith(".gz") ? new GZIPInputStream(opened) : opened);
        } catch (IOException e) {
            opened.close();
            throw e;
        }
    }

    /** Returns true if the next bytes of a stream begin a block. Does not consume them. */
    public static boolean isNextIn(BufferedInputStream in) throws IOException {
        in.mark(MAGIC.length);
        byte[] first = in.readNBytes(MAGIC.length);
        in.reset();
        return Arrays.equals(first, MAGIC);
    }

    /** Returns true if the stream has no more bytes. Does not consume any. */
    public static boolean isEmpty(BufferedInputStream in) throws IOException {
        in.mark(1);
        boolean isEmpty = in.read() < 0;
        in.reset();
        return isEmpty;
    }

    /** Returns true if a file is a binary log, even if its beginning is damaged. False if it is not a regular file. */
    public static boolean is(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            return false;
        }
        try (BufferedInputStream in = open(file)) {
            byte[] first = in.readNBytes(SEARCHED_BYTES);
            for (int i = 0; i + MAGIC.length <= first.length; i++) {
                if (Arrays.equals(first, i, i + MAGIC.length, MAGIC, 0, MAGIC.length)) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw LogFailure.of(file, e);
        }
    }
}
