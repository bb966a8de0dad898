package io.millrace.cli.client;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The admin sockets on this machine. They are found in the locations where a launcher (the process with the admin API)
 * creates its socket by default, and in pointer files, in which running launchers name other locations. Immutable.
 *
 * @param checked the checked locations, in order: the location of systemd; the locations of the user, sorted by name;
 *     running sockets elsewhere, from pointer files
 */
public record Instances(List<Candidate> checked) {
    /**
     * Name of the directory of pointer files below the parent of the state directories. A launcher whose socket is
     * elsewhere, such as with {@code --state}, writes a file there with the path of its socket.
     */
    public static final String POINTERS = "running";

    /** Limit of a pointer file in bytes; a socket has a shorter path. */
    private static final int POINTER_BYTES_MAX = 4096;

    /**
     * A location and the state of the socket there. The path contains a {@code *} instead of the name of a state
     * directory if their parent directory cannot be listed, or if no state directory contains a socket.
     */
    public record Candidate(Path socket, SocketState state) {}

    /**
     * Checks each location. Connects once to each socket and closes the connection.
     *
     * @param runDirectory systemd's runtime directory of the service, such as {@code /run/millrace}
     * @param stateHome the parent of the state directories, such as {@code ~/.local/state/millrace}. Each state
     *     directory is named after the first port of its instance.
     */
    public static Instances find(Path runDirectory, Path stateHome) {
        List<Candidate> checked = new ArrayList<>();
        check(runDirectory.resolve(AdminAddress.SOCKET_NAME), checked);
        List<Path> directories = new ArrayList<>();
        Path any = stateHome.resolve("*").resolve(AdminAddress.SOCKET_NAME);
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(stateHome)) {
            for (Path entry : entries) {
                directories.add(entry);
            }
        } catch (AccessDeniedException e) {
            checked.add(new Candidate(any, SocketState.FORBIDDEN));
        } catch (IOException e) {
            checked.add(new Candidate(any, SocketState.ABSENT));
        }
        Collections.sort(directories);
        int before = checked.size();
        for (Path directory : directories) {
            Path socket = directory.resolve(AdminAddress.SOCKET_NAME);
            if (Files.exists(socket) || !Files.isReadable(directory)) {
                check(socket, checked);
            }
        }
        if (before == 1 && checked.size() == 1) {
            checked.add(new Candidate(any, SocketState.ABSENT));
        }
        checkPointers(stateHome.resolve(POINTERS), checked);
        return new Instances(List.copyOf(checked));
    }

    /** Adds the running sockets of pointer files. Files of launchers that were killed are ignored. */
    private static void checkPointers(Path directory, List<Candidate> checked) {
        List<Path> sockets = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                Path socket = socketIn(entry);
                if (socket != null && !isKnown(checked, socket) && !sockets.contains(socket)) {
                    sockets.add(socket);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // Without a pointer directory, only the sockets in the standard locations are returned.
            return;
        }
        Collections.sort(sockets);
        for (Path socket : sockets) {
            SocketState state = SocketState.of(socket);
            if (state.isRunning()) {
                checked.add(new Candidate(socket, state));
            }
        }
    }

    private static boolean isKnown(List<Candidate> checked, Path socket) {
        for (Candidate found : checked) {
            if (found.socket().equals(socket)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the path in a pointer file; null if the file has no absolute path. */
    private static @Nullable Path socketIn(Path pointer) {
        try {
            if (!Files.isRegularFile(pointer) || Files.size(pointer) > POINTER_BYTES_MAX) {
                return null;
            }
            Path socket = Path.of(Files.readString(pointer).strip());
            return socket.isAbsolute() ? socket : null;
        } catch (IOException | InvalidPathException e) {
            return null;
        }
    }

    private static void check(Path socket, List<Candidate> checked) {
        checked.add(new Candidate(socket, SocketState.of(socket)));
    }

    /** Returns the sockets on which a process listens. */
    public List<Path> running() {
        List<Path> running = new ArrayList<>();
        for (Candidate candidate : checked) {
            if (candidate.state().isRunning()) {
                running.add(candidate.socket());
            }
        }
        return running;
    }
}
