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
 * The admin sockets in the places where a launcher puts one that was told nothing else. Immutable.
 *
 * @param looked what was looked at, in order: first systemd's place, then the user's, by name
 */
public record Instances(List<Candidate> looked) {
    /** One place and what lies there; the path may hold a {@code *} when there was nothing to list. */
    public record Candidate(Path socket, SocketState state) {}

    /**
     * Looks around; each socket found is connected to once.
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

    /** The sockets that a process holds. */
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
