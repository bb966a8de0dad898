package io.millrace.proxy.admin;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The file of a listening Unix domain socket. The socket is bound under a temporary name, gets its mode, and is then
 * renamed. Therefore it never has a wider mode under its final name, and it replaces the file of a dead process
 * atomically. A socket on which a process answers is never replaced. Confined to one thread at a time.
 */
final class UnixSocketFile {
    /** Access for owner and group, because operators in one group share the admin socket. */
    private static final String MODE = "rw-rw----";

    private final Path path;
    private final Path bindPath;
    private volatile @Nullable Object publishedKey;

    UnixSocketFile(Path socket) {
        path = socket.toAbsolutePath();
        String temporaryName =
                "." + Integer.toString(ThreadLocalRandom.current().nextInt(1 << 30), Character.MAX_RADIX);
        bindPath = path.resolveSibling(temporaryName);
    }

    /** Returns the temporary name to bind. */
    Path bindPath() {
        return bindPath;
    }

    /**
     * Checks that the final name is free or belongs to a dead process.
     *
     * @throws IOException if a process listens there, or if the file is not a socket
     */
    void claim() throws IOException {
        BasicFileAttributes attributes = attributes();
        if (attributes == null) {
            return;
        }
        if (!attributes.isOther()) {
            throw new IOException("a file that is not a socket has the path of the admin socket: " + path);
        }
        if (hasListener()) {
            throw new IOException("another process listens on the admin socket: " + path);
        }
    }

    private @Nullable BasicFileAttributes attributes() throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private boolean hasListener() throws IOException {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            probe.configureBlocking(false);
            probe.connect(UnixDomainSocketAddress.of(path));
            return true;
        } catch (ConnectException e) {
            return false;
        }
    }

    /** Sets the mode of the bound socket and renames it to its final name. */
    void publish() throws IOException {
        Files.setPosixFilePermissions(bindPath, PosixFilePermissions.fromString(MODE));
        Files.move(bindPath, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        publishedKey = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    /** Returns whether the file was deleted and its directory exists. The file of a successor counts as present. */
    boolean isLost() {
        Path directory = path.getParent();
        return publishedKey != null
                && directory != null
                && Files.notExists(path, LinkOption.NOFOLLOW_LINKS)
                && Files.isDirectory(directory);
    }

    /** Deletes the file unless a successor has replaced it. */
    void remove() throws IOException {
        Object published = publishedKey;
        publishedKey = null;
        Files.deleteIfExists(bindPath);
        BasicFileAttributes attributes = attributes();
        if (attributes != null && published != null && published.equals(attributes.fileKey())) {
            Files.deleteIfExists(path);
        }
    }
}
