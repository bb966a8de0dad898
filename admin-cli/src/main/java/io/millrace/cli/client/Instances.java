package io.millrace.cli.client;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The admin sockets found in the locations where a launcher creates its socket by default. Immutable.
 *
 * @param checked the checked locations, in order: the location of systemd, then those of the user, sorted by name
 */
public record Instances(List<Candidate> checked) {
    /**
     * A location and the state of the socket there. The path contains a {@code *} if its parent directory is missing or
     * empty.
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
        return new Instances(List.copyOf(checked));
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
