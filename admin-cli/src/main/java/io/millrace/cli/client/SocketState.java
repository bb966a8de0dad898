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

/** What lies at the path of a Unix domain socket, found out by connecting to it. */
public enum SocketState {
    /** A process listens. */
    LISTENING("a process listens"),
    /** There is no file. */
    ABSENT("missing"),
    /** A socket file that a process left behind. */
    DEAD("no process listens; the process that created the socket has exited"),
    /** The file, or a directory on the way to it, is not for this user. */
    FORBIDDEN("permission denied; run as the user that runs millrace, or as root"),
    /** A file of another kind. */
    NOT_A_SOCKET("not a socket"),
    /** The listening process does not accept. */
    BUSY("the process that listens accepts no connection");

    private final String words;

    SocketState(String words) {
        this.words = words;
    }

    /** The state in a few words. */
    public String words() {
        return words;
    }

    /** Whether a process holds the socket, as far as this user can tell. */
    public boolean isRunning() {
        return this == LISTENING || this == BUSY;
    }

    /** Connects to {@code path} and hangs up. */
    static SocketState of(Path path) {
        SocketState atRest = withoutConnecting(path);
        if (atRest != LISTENING) {
            return atRest;
        }
        // Non-blocking, because a full queue would make a blocking connect wait for as long as it stays full.
        try (SocketChannel channel = SocketChannel.open(java.net.StandardProtocolFamily.UNIX)) {
            channel.configureBlocking(false);
            return channel.connect(UnixDomainSocketAddress.of(path)) ? LISTENING : BUSY;
        } catch (IOException | UnsupportedAddressTypeException | UnsupportedOperationException e) {
            return afterFailure(path, e);
        }
    }

    /** The state that made a connect to {@code path} fail. */
    static SocketState afterFailure(Path path, Exception failure) {
        SocketState atRest = withoutConnecting(path);
        if (atRest != LISTENING) {
            return atRest;
        }
        // The JDK has no exception types for these; the words are strerror's.
        String message = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
        if (message.contains("permission denied")) {
            return FORBIDDEN;
        }
        return message.contains("temporarily unavailable") ? BUSY : DEAD;
    }

    /** What the file system says; {@link #LISTENING} stands for a socket that may or may not be served. */
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
