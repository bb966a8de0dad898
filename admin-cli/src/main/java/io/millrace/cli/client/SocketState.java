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

    /** Returns a short description of the state for the user. */
    public String words() {
        return words;
    }

    /** Returns true if a process listens on the socket. False if this user lacks the permission to check. */
    public boolean isRunning() {
        return this == LISTENING || this == BUSY;
    }

    /** Determines the state of a path. Connects to a socket and closes the connection at once. */
    static SocketState of(Path path) {
        SocketState fileState = ofFile(path);
        if (fileState != LISTENING) {
            return fileState;
        }
        // The channel is non-blocking, since a blocking connect would wait while the accept queue is full.
        try (SocketChannel channel = SocketChannel.open(java.net.StandardProtocolFamily.UNIX)) {
            channel.configureBlocking(false);
            return channel.connect(UnixDomainSocketAddress.of(path)) ? LISTENING : BUSY;
        } catch (IOException | UnsupportedAddressTypeException | UnsupportedOperationException e) {
            return afterFailure(path, e);
        }
    }

    /** Returns the state that caused a connect to {@code path} to fail. */
    static SocketState afterFailure(Path path, Exception failure) {
        SocketState fileState = ofFile(path);
        if (fileState != LISTENING) {
            return fileState;
        }
        // The JDK has no exception types for these cases, so the messages of strerror are compared.
        String message = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
        if (message.contains("permission denied")) {
            return FORBIDDEN;
        }
        return message.contains("temporarily unavailable") ? BUSY : DEAD;
    }

    /**
     * Returns the state as far as the file system shows it. For every socket the result is {@link #LISTENING}, even if
     * no process listens.
     */
    private static SocketState ofFile(Path path) {
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
