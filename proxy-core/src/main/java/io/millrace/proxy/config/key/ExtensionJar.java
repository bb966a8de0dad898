package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.Units;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The jar of an extension. The checksum is a part of the configuration, so that a reload finds a changed file. The
 * content is not kept. Immutable.
 */
public final class ExtensionJar {
    /** Limit of the length of a jar, in bytes. */
    public static final long BYTES_MAX = 256L * 1024 * 1024;

    private static final int BUFFER_BYTES = 64 * 1024;

    private final Path path;

    /** SHA-256 in hexadecimal digits; empty if the file was not read yet. */
    private final String checksum;

    private ExtensionJar(Path path, String checksum) {
        this.path = path;
        this.checksum = checksum;
    }

    /** Parses a path. {@link #readBelow} reads the file. */
    public static ExtensionJar unread(Path path) {
        return new ExtensionJar(path, "");
    }

    /**
     * Reads this file.
     *
     * @param directory directory of relative paths
     * @throws InvalidValueException if it cannot be read, or is too long
     */
    public ExtensionJar readBelow(Path directory) throws InvalidValueException {
        Path absolute = directory.resolve(path).normalize();
        if (Files.isDirectory(absolute)) {
            throw new InvalidValueException(absolute + " is a directory, not a jar");
        }
        try {
            return new ExtensionJar(absolute, copy(absolute, OutputStream.nullOutputStream()));
        } catch (NoSuchFileException e) {
            throw new InvalidValueException(absolute + ": no such file");
        } catch (AccessDeniedException e) {
            throw new InvalidValueException(absolute + ": permission denied");
        } catch (IOException e) {
            throw new InvalidValueException(absolute + " cannot be read: " + e.getMessage());
        }
    }

    /**
     * Copies the file.
     *
     * @throws IOException if it cannot be read, or is no longer the file that this object stands for
     */
    public void copyTo(OutputStream out) throws IOException {
        if (!copy(path, out).equals(checksum)) {
            throw new IOException(path + " has changed since the configuration was read; reload the configuration");
        }
    }

    private static String copy(Path file, OutputStream out) throws IOException {
        MessageDigest digest = sha256();
        byte[] buffer = new byte[BUFFER_BYTES];
        long length = 0;
        try (InputStream in = Files.newInputStream(file)) {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                length += read;
                if (length > BYTES_MAX) {
                    throw new IOException("it has more bytes than the limit of " + Units.formatSize(BYTES_MAX));
                }
                digest.update(buffer, 0, read);
                out.write(buffer, 0, read);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java runtime has no SHA-256", e);
        }
    }

    /** The path, absolute once the file was read. */
    public Path path() {
        return path;
    }

    /** SHA-256 of the file in hexadecimal digits; empty if the file was not read yet. */
    public String checksum() {
        return checksum;
    }

    /** Equal if path and checksum are equal. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ExtensionJar that && path.equals(that.path) && checksum.equals(that.checksum);
    }

    @Override
    public int hashCode() {
        return path.hashCode() + 31 * checksum.hashCode();
    }

    /** The path. */
    @Override
    public String toString() {
        return path.toString();
    }
}
