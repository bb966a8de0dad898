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
 * The admin sockets in the standard locations, where a launcher creates its socket by default. Immutable.
 *
 * @param looked the locations checked, in order: the location of systemd, then those of the user, sorted by name
 */
public record Instances(List<Candidate> looked) {
    /**
     * A location and the state of the socket there. The path contains a {@code *} if there was no directory to list.
     */
    public record Candidate(Path socket, SocketState state) {}

    /**
     * Checks the locations; connects once to each socket.
     *
     * @param runDirectory systemd's runtime directory of the service, such as {@code /run/millrace}
     * @param stateHome the directory with one state directory per first port, such as {@code ~/.local/state/millrace}
     */
    public static Instances find(Path runDirectory, Path stateHome) {
        List<Candidate> looked = new ArrayList<>();
        look(runDirectory.resolve(AdminAddress.SOCKET_NAME), looked);
        List<Path> directories = new ArrayList<>();
        Path any = stateHome.resolve("*").resolve(AdminAddress.SOCKET_NAME);
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(stateHome)) {
            for (Path entry : entries) {
                directories.add(entry);
            }
        } catch (AccessDeniedException e) {
            looked.add(new Candidate(any, SocketState.FORBIDDEN));
        } catch (IOException e) {
            looked.add(new Candidate(any, SocketState.ABSENT));
        }
        Collections.sort(directories);
        int before = looked.size();
        for (Path directory : directories) {
            Path socket = directory.resolve(AdminAddress.SOCKET_NAME);
            if (Files.exists(socket) || !Files.isReadable(directory)) {
                look(socket, looked);
            }
        }
        if (before == 1 && looked.size() == 1) {
            looked.add(new Candidate(any, SocketState.ABSENT));
        }
        return new Instances(List.copyOf(looked));
    }

    private static void look(Path socket, List<Candidate> looked) {
        looked.add(new Candidate(socket, SocketState.of(socket)));
    }

    /** Returns the sockets on which a process listens. */
    public List<Path> running() {
        List<Path> running = new ArrayList<>();
        for (Candidate candidate : looked) {
            if (candidate.state().isRunning()) {
                running.add(candidate.socket());
            }
        }
        return running;
    }
}
