package io.millrace.launcher.sockets;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The process that listens on a port, found in {@code /proc}. Immutable.
 *
 * @param pid process id
 * @param command short name of the process
 */
record PortOwner(long pid, String command) {
    /** The state TCP_LISTEN in {@code /proc/net/tcp}. */
    private static final String LISTEN = "0A";

    /**
     * Finds the owner of TCP {@code port}.
     *
     * @param proc {@code /proc}
     * @return empty if no process listens there, or if the process belongs to another user and its descriptors cannot
     *     be read
     */
    static Optional<PortOwner> find(Path proc, int port) {
        Set<String> links = new HashSet<>();
        for (String table : List.of("net/tcp", "net/tcp6")) {
            links.addAll(listeningSockets(proc.resolve(table), port));
        }
        if (links.isEmpty()) {
            return Optional.empty();
        }
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                if (holds(process.resolve("fd"), links)) {
                    return Optional.of(
                            new PortOwner(Long.parseLong(process.getFileName().toString()), commandOf(process)));
                }
            }
        } catch (IOException e) {
            return Optional.empty();
        }
        return Optional.empty();
    }

    /**
     * Returns the link targets ({@code socket:[inode]}) of the sockets in {@code table} that listen on {@code port}.
     */
    static Set<String> listeningSockets(Path table, int port) {
        Set<String> links = new HashSet<>();
        try {
            for (String line : Files.readAllLines(table)) {
                String[] columns = line.strip().split("\\s+", -1);
                if (columns.length < 10 || !columns[3].equals(LISTEN)) {
                    continue;
                }
                int colon = columns[1].lastIndexOf(':');
                if (Integer.parseInt(columns[1].substring(colon + 1), 16) == port) {
                    links.add("socket:[" + columns[9] + "]");
                }
            }
        } catch (IOException e) {
            // A machine without IPv6 has no tcp6 table.
            return links;
        }
        return links;
    }

    private static boolean holds(Path descriptors, Set<String> links) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(descriptors)) {
            for (Path entry : entries) {
                if (links.contains(targetOf(entry))) {
                    return true;
                }
            }
        } catch (IOException e) {
            // The process has exited meanwhile, or belongs to another user.
            return false;
        }
        return false;
    }

    private static String targetOf(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            // The descriptor was closed after the directory was listed.
            return "";
        }
    }

    private static String commandOf(Path process) {
        try {
            return Files.readString(process.resolve("comm")).strip();
        } catch (IOException e) {
            return "process";
        }
    }
}
