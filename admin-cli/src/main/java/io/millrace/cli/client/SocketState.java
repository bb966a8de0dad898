package io.millrace.cli.client;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Locale;

/** The state of a Unix domain socket at a path, determined by connecting to it. */
public enum SocketState {
    /** A process listens. */
    LISTENING("a process listens"),
    /** The file does not exist. */
    ABSENT("missing"),
    /** A socket file of a process that has ended. */
    DEAD("no process listens; the process that created the socket has exited"),
    /** This user has no permission for the file or a parent directory. */
    FORBIDDEN("permission denied; run as the user that runs millrace, or as root"),
    /** The file is not a socket. */
    NOT_A_SOCKET("not a socket"),
    /** The process listens but its accept queue is full. */
    BUSY("the process that listens accepts no connection");

    private final String words;

    SocketState(String words) {
        this.words = words;
    }

    /** Short description of the state. */
    public String words() {
        return words;
    }

    /** Whether a process listens on the socket, as far as this user can determine. */
    public boolean isRunning() {
        return this == LISTENING || this == BUSY;
    }

    /** Connects to {@code path} and closes the connection. */
    static SocketState of(Path path) {
        SocketState atRest = withoutConnecting(path);
        if (atRest != LISTENING) {
            return atRest;
        }
        // Non-blocking, since a blocking connect would wait while the accept queue is full.
        try (SocketChannel channel = SocketChannel.open(java.net.StandardProtocolFamily.UNIX)) {
            channel.configureBlocking(false);
            return channel.connect(UnixDomainSocketAddress.of(path)) ? LISTENING : BUSY;
        } catch (IOException | UnsupportedAddressTypeException | UnsupportedOperationException e) {
            return afterFailure(path, e);
        }
    }

    /** Returns the state that caused a connect to {@code path} to fail. */
    static SocketState afterFailure(Path path, Exception failure) {
        SocketState atRest = withoutConnecting(path);
        if (atRest != LISTENING) {
            return atRest;
        }
        // The JDK has no exception types for these cases; the messages are those of strerror.
        String message = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
        if (message.contains("permission denied")) {
            return FORBIDDEN;
        }
        return message.contains("temporarily unavailable") ? BUSY : DEAD;
    }

    /**
     * Returns the state according to the file system; {@link #LISTENING} for a socket, whether a process listens or
     * not.
     */
    private static SocketState withoutConnecting(Path path) {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class).isOther() ? LISTENING : NOT_A_SOCKET;
        } catch (NoSuchFileException e) {
            return ABSENT;
        } catch (AccessDeniedException e) {
            return FORBIDDEN;
        } catch (IOException e) {
            return ABSENT;
        }
    }
}
