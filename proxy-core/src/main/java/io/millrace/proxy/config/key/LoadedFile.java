package io.millrace.proxy.config.key;

import io.millrace.proxy.config.value.InvalidValueException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A file whose content is a part of the configuration. It is read when the configuration is loaded, so that a reload
 * applies a changed file. Immutable.
 */
public final class LoadedFile {
    /** Limit of the length of a file, in bytes. */
    public static final int BYTES_MAX = 1024 * 1024;

    private final Path path;
    private final byte[] content;

    private LoadedFile(Path path, byte[] content) {
        this.path = path;
        this.content = content;
    }

    /** Returns a file whose content is not read yet. Parsing of a configuration value creates it. */
    static LoadedFile unread(Path path) {
        return new LoadedFile(path, new byte[0]);
    }

    /**
     * Reads a file.
     *
     * @throws InvalidValueException if it cannot be read, or is too long
     */
    public static LoadedFile read(Path path) throws InvalidValueException {
        if (Files.isDirectory(path)) {
            throw new InvalidValueException(path + " is a directory, not a file");
        }
        try (InputStream in = Files.newInputStream(path)) {
            byte[] content = in.readNBytes(BYTES_MAX + 1);
            if (content.length > BYTES_MAX) {
                throw new InvalidValueException(path + " has more bytes than the limit of " + BYTES_MAX);
            }
            return new LoadedFile(path, content);
        } catch (NoSuchFileException e) {
            throw new InvalidValueException(path + ": no such file");
        } catch (AccessDeniedException e) {
            throw new InvalidValueException(path + ": permission denied");
        } catch (IOException e) {
            throw new InvalidValueException(path + " cannot be read: " + e.getMessage());
        }
    }

    /**
     * Reads this file.
     *
     * @param directory directory of relative paths
     * @throws InvalidValueException as {@link #read}
     */
    public LoadedFile readBelow(Path directory) throws InvalidValueException {
        return read(directory.resolve(path).normalize());
    }

    /** The path, absolute once the file was read. */
    public Path path() {
        return path;
    }

    /** The bytes of the file. Borrowed, and must not be changed. */
    public byte[] content() {
        return content;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LoadedFile that && path.equals(that.path) && Arrays.equals(content, that.content);
    }

    @Override
    public int hashCode() {
        return path.hashCode() + 31 * Arrays.hashCode(content);
    }

    /** The path. */
    @Override
    public String toString() {
        return path.toString();
    }
}
