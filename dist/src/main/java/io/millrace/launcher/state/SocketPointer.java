package io.millrace.launcher.state;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that leads {@code millctl} to an admin socket outside the standard locations, such as with {@code --state}. It
 * is {@code running/ID} below the parent of the user's state directories, and contains the absolute path of the socket.
 * ID is a hash of this path, so that a launcher replaces the file of a killed launcher with the same socket.
 *
 * <p>Not thread-safe.
 */
public final class SocketPointer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SocketPointer.class);

    /** A pointer without a file. */
    public static final SocketPointer NONE = new SocketPointer(null);

    /** Directory of the files, below the parent of the state directories; {@code millctl} uses the same name. */
    static final String DIRECTORY = "running";

    /** Without these modes, a process with umask 0 would let every user change the path that {@code millctl} reads. */
    private static final FileAttribute<Set<PosixFilePermission>> DIRECTORY_MODE = mode("rwxr-x---");

    private static final FileAttribute<Set<PosixFilePermission>> FILE_MODE = mode("rw-r-----");

    private final @Nullable Path file;

    private static FileAttribute<Set<PosixFilePermission>> mode(String permissions) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
    }

    private SocketPointer(@Nullable Path file) {
        this.file = file;
    }

    /**
     * Writes the file, unless the socket is in a state directory that {@code millctl} examines anyway. A failure is
     * logged only: the socket can be named with {@code --admin}.
     *
     * @param states parent of the user's state directories ({@link StateDirectory#parent})
     * @param socket the admin socket
     */
    public static SocketPointer write(Path states, Path socket) {
        Path absolute = socket.toAbsolutePath().normalize();
        Path directory = absolute.getParent();
        Path parent = states.normalize();
        if (!parent.isAbsolute() || (directory != null && parent.equals(directory.getParent()))) {
            return NONE;
        }
        String id = UUID.nameUUIDFromBytes(absolute.toString().getBytes(StandardCharsets.UTF_8))
                .toString();
        Path file = parent.resolve(DIRECTORY).resolve(id);
        try {
            Path pointers = Files.createDirectories(file.resolveSibling("."), DIRECTORY_MODE);
            Files.deleteIfExists(file);
            Files.writeString(Files.createFile(file, FILE_MODE), absolute + "\n");
            deleteObsolete(pointers);
            return new SocketPointer(file);
        } catch (IOException e) {
            LOG.debug("{} cannot be written; millctl needs --admin {}: {}", file, absolute, e.toString());
            return NONE;
        }
    }

    /**
     * Deletes the files of killed launchers whose state directories do not exist any more. Leaves files that cannot be
     * read, or that another launcher deletes meanwhile.
     */
    private static void deleteObsolete(Path pointers) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(pointers)) {
            for (Path each : files) {
                deleteIfObsolete(each);
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.debug("obsolete files in {} cannot be deleted: {}", pointers, e.toString());
        }
    }

    private static void deleteIfObsolete(Path pointer) {
        try {
            Path socket = Path.of(Files.readString(pointer).strip());
            if (!Files.isDirectory(socket.resolveSibling("."))) {
                Files.deleteIfExists(pointer);
            }
        } catch (IOException | InvalidPathException e) {
            LOG.debug("{} is not deleted: {}", pointer, e.toString());
        }
    }

    @Override
    public String toString() {
        return file == null ? "no pointer" : file.toString();
    }

    /** Deletes the file. */
    @Override
    public void close() {
        if (file != null) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                LOG.debug("{} cannot be deleted: {}", file, e.toString());
            }
        }
    }
}
