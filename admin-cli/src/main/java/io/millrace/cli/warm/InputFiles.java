package io.millrace.cli.warm;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** Opens input files, and decompresses those that begin like a gzip file. Stateless. Blocks. */
public final class InputFiles {
    private static final int BUFFER_BYTES = 64 << 10;
    private static final int GZIP_FIRST = 0x1f;
    private static final int GZIP_SECOND = 0x8b;

    private InputFiles() {}

    /** Opens a file. */
    public static InputStream open(Path file) throws IOException {
        InputStream opened = Files.newInputStream(file);
        try {
            return decompressed(opened);
        } catch (IOException e) {
            opened.close();
            throw e;
        }
    }

    /**
     * Returns the content of a stream, decompressed if its first two bytes are the magic number of gzip. Closing it
     * closes {@code in}.
     */
    public static InputStream decompressed(InputStream in) throws IOException {
        PushbackInputStream first = new PushbackInputStream(in, 2);
        byte[] magic = first.readNBytes(2);
        first.unread(magic);
        boolean isGzip = magic.length == 2 && (magic[0] & 0xff) == GZIP_FIRST && (magic[1] & 0xff) == GZIP_SECOND;
        return isGzip ? new GZIPInputStream(first, BUFFER_BYTES) : new BufferedInputStream(first, BUFFER_BYTES);
    }
}
