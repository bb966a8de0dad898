package io.millrace.cli.bundle;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;
import java.util.zip.GZIPOutputStream;

/**
 * Writes a new tar.gz file in the ustar format (POSIX.1-1988), readable by its owner only. Confined to one thread; the
 * caller closes it.
 */
public final class TarGzip implements AutoCloseable {
    /** Limit of a name in the ustar header, in bytes. */
    public static final int NAME_LENGTH_MAX = 100;

    private static final int BLOCK = 512;
    private static final int CHECKSUM_OFFSET = 148;
    private static final int CHECKSUM_LENGTH = 8;

    private final OutputStream out;
    private final long epochSeconds;

    /**
     * Creates the file.
     *
     * @param epochSeconds modification time of all entries
     * @throws IOException if the file exists or cannot be written
     */
    public TarGzip(Path file, long epochSeconds) throws IOException {
        this.epochSeconds = epochSeconds;
        FileAttribute<?>[] own =
                FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                        ? new FileAttribute<?>[] {
                            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                        }
                        : new FileAttribute<?>[0];
        // A channel creates the file, since only this method sets the mode at creation.
        Files.newByteChannel(file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), own)
                .close();
        out = new GZIPOutputStream(Files.newOutputStream(file, StandardOpenOption.WRITE));
    }

    /**
     * Appends a file of mode 0600.
     *
     * @param name path in the archive, at most 100 bytes of ASCII
     */
    public void add(String name, byte[] content) throws IOException {
        byte[] path = name.getBytes(StandardCharsets.US_ASCII);
        if (path.length > NAME_LENGTH_MAX) {
            throw new IOException("name in the archive: actual=" + path.length + " bytes, limit=" + NAME_LENGTH_MAX);
        }
        byte[] header = new byte[BLOCK];
        System.arraycopy(path, 0, header, 0, path.length);
        octal(header, 100, 8, 0600);
        octal(header, 108, 8, 0);
        octal(header, 116, 8, 0);
        octal(header, 124, 12, content.length);
        octal(header, 136, 12, epochSeconds);
        header[156] = '0';
        ascii(header, 257, "ustar\0" + "00");
        Arrays.fill(header, CHECKSUM_OFFSET, CHECKSUM_OFFSET + CHECKSUM_LENGTH, (byte) ' ');
        int sum = 0;
        for (byte octet : header) {
            sum += octet & 0xff;
        }
        octal(header, CHECKSUM_OFFSET, CHECKSUM_LENGTH - 1, sum);
        out.write(header);
        out.write(content);
        out.write(new byte[(BLOCK - content.length % BLOCK) % BLOCK]);
    }

    /** Writes a number into a header field: octal digits with leading zeros, then a zero byte. */
    private static void octal(byte[] header, int offset, int length, long value) {
        String digits = Long.toOctalString(value);
        ascii(header, offset, "0".repeat(length - 1 - digits.length()) + digits);
        header[offset + length - 1] = 0;
    }

    private static void ascii(byte[] header, int offset, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(bytes, 0, header, offset, bytes.length);
    }

    /** Writes the two zero blocks that end an archive, and closes the file. */
    @Override
    public void close() throws IOException {
        try (out) {
            out.write(new byte[2 * BLOCK]);
        }
    }
}
