package io.millrace.proxy.net;

import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.value.FileMode;
import io.millrace.proxy.config.value.ListenAddress;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The address of a listening Unix socket, with the rights of its file. Immutable. Its methods do file I/O: never call
 * them on an event loop.
 */
public final class UnixAddress extends SocketAddress {
    private static final long serialVersionUID = 1;

    private static final Logger log = LoggerFactory.getLogger(UnixAddress.class);

    /** File type bits of a Unix socket in the mode of inode(7). */
    private static final int S_IFSOCK = 0140000;

    private static final int S_IFMT = 0170000;

    private final transient Path path;
    private final int mode;
    private final @Nullable String owner;

    /**
     * The file of a bound socket.
     *
     * @param key identity of the file: device and inode
     */
    public record File(Path path, Object key) {
        /** Returns true if the file was deleted, or another file has its name. No client reaches the socket then. */
        public boolean isLost() {
            try {
                return !key.equals(keyOf(path));
            } catch (NoSuchFileException e) {
                return true;
            } catch (IOException e) {
                log.debug("{} cannot be checked", path, e);
                return false;
            }
        }

        /** Deletes the file, unless another file has its name now. Failures are only logged. */
        public void delete() {
            try {
                if (key.equals(keyOf(path))) {
                    Files.deleteIfExists(path);
                }
            } catch (NoSuchFileException e) {
                log.debug("{} was deleted before", path);
            } catch (IOException e) {
                log.warn("the socket {} cannot be deleted; the next start replaces it", path, e);
            }
        }
    }

    /**
     * @param path absolute
     * @param mode permission bits of the file, as in {@code chmod}
     * @param owner {@code user}, {@code user:group} or {@code :group}; null leaves the owner unchanged
     */
    public UnixAddress(Path path, int mode, @Nullable String owner) {
        this.path = path;
        this.mode = mode;
        this.owner = owner;
    }

    /** Returns the address of a listener; null for a TCP address. */
    public static @Nullable UnixAddress of(ListenerConfig listener) {
        Path socket = listener.address().socket();
        return socket == null
                ? null
                : new UnixAddress(socket, listener.socketMode().bits(), listener.socketOwner());
    }

    /** Returns the path of the socket. */
    public Path path() {
        return path;
    }

    /**
     * Binds a socket and listens. Replaces a file that a stopped process left behind. The caller owns the socket. No
     * client can connect before the file has its mode and owner.
     *
     * @param backlog limit of waiting connections
     * @throws IOException with a message for operators that contains the address
     */
    public Socket bind(int backlog) throws IOException {
        removeStale();
        Socket socket = Socket.newSocketDomain();
        boolean complete = false;
        try {
            socket.bind(new DomainSocketAddress(path.toString()));
            applyRights();
            socket.listen(backlog);
            complete = true;
            return socket;
        } catch (IOException e) {
            throw e instanceof RightsException ? e : new IOException(this + " cannot be bound: " + reason(e), e);
        } finally {
            if (!complete) {
                socket.close();
            }
        }
    }

    /** Returns the file of the bound socket; null if the file has been deleted or cannot be read. */
    public @Nullable File file() {
        try {
            Object key = keyOf(path);
            return key == null ? null : new File(path, key);
        } catch (IOException e) {
            log.debug("{} has no file", this, e);
            return null;
        }
    }

    /**
     * Sets mode and owner of the socket's file.
     *
     * @throws IOException with a message for operators that contains the address
     */
    public void applyRights() throws IOException {
        try {
            String configuredOwner = owner;
            if (configuredOwner != null) {
                int colon = configuredOwner.indexOf(':');
                String user = colon < 0 ? configuredOwner : configuredOwner.substring(0, colon);
                String group = colon < 0 ? "" : configuredOwner.substring(colon + 1);
                PosixFileAttributeView view =
                        Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
                UserPrincipalLookupService names = path.getFileSystem().getUserPrincipalLookupService();
                if (!group.isEmpty()) {
                    view.setGroup(names.lookupPrincipalByGroupName(group));
                }
                if (!user.isEmpty()) {
                    view.setOwner(names.lookupPrincipalByName(user));
                }
            }
            Files.setAttribute(path, "unix:mode", mode);
        } catch (UserPrincipalNotFoundException e) {
            throw new RightsException(
                    this + ": listen[].socket_owner: this machine has no user or group " + e.getName());
        } catch (IOException e) {
            throw new RightsException(this + " cannot get mode " + FileMode.text(mode)
                    + (owner == null ? "" : " and owner " + owner) + ": " + reason(e)
                    + (owner == null ? "" : "; only root may give a socket to another user"));
        }
    }

    /** A failure to set mode or owner. The message already contains the address and the reason. */
    private static final class RightsException extends IOException {
        private static final long serialVersionUID = 1;

        RightsException(String message) {
            super(message);
        }
    }

    private void removeStale() throws IOException {
        Path directory = path.getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            throw new IOException(this + " cannot be bound: the directory " + directory + " does not exist");
        }
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (((int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS) & S_IFMT) != S_IFSOCK) {
            throw new IOException(
                    this + " cannot be bound: the file exists and is no socket; delete it, or choose another path");
        }
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            // In non-blocking mode, the attempt fails with an exception if the other process's queue of new connections
            // is full. In blocking mode, it would wait.
            probe.configureBlocking(false);
            probe.connect(UnixDomainSocketAddress.of(path));
        } catch (ConnectException e) {
            // No process listens on the socket. Other failures, such as EAGAIN of a full queue, are no
            // ConnectException.
            Files.deleteIfExists(path);
            return;
        } catch (IOException e) {
            throw inUse(": " + e.getMessage());
        }
        throw inUse("");
    }

    private IOException inUse(String detail) {
        return new IOException(this + " is in use by another process" + detail + "; find it as root: ss -xlp src "
                + path + "; stop it, or choose another path");
    }

    private static String reason(IOException e) {
        if (e instanceof AccessDeniedException) {
            return "permission denied";
        }
        String text =
                e instanceof FileSystemException file && file.getReason() != null ? file.getReason() : e.getMessage();
        return text == null ? e.toString() : text;
    }

    private static @Nullable Object keyOf(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .fileKey();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof UnixAddress that
                && path.equals(that.path)
                && mode == that.mode
                && Objects.equals(owner, that.owner);
    }

    @Override
    public int hashCode() {
        return Objects.hash(path, mode, owner);
    }

    /** Formats the address as in the configuration. */
    @Override
    public String toString() {
        return ListenAddress.UNIX + path;
    }
}
