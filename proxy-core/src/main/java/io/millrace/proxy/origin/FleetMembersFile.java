package io.millrace.proxy.origin;

import io.millrace.proxy.config.value.InvalidValueException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file with the nodes of the fleet that take requests. The launcher (the parent process) writes it, and workers read
 * it at their start and after each change. So a node without a connection to its fleet keeps the last known nodes, also
 * across restarts. Blocks. One thread writes; any thread may read.
 */
public final class FleetMembersFile {
    private static final Logger LOG = LoggerFactory.getLogger(FleetMembersFile.class);
    private static final String FILE = "members";

    private final Path directory;

    /** @param directory the directory of the fleet in the state directory */
    public FleetMembersFile(Path directory) {
        this.directory = directory;
    }

    /** Returns the nodes in the file; none if it is missing or unreadable. */
    public FleetMembers read() {
        Path file = directory.resolve(FILE);
        try {
            return FleetMembers.parse(Files.readString(file));
        } catch (NoSuchFileException e) {
            return FleetMembers.NONE;
        } catch (IOException | InvalidValueException e) {
            LOG.warn("the nodes of the fleet cannot be read from {}: {}", file, e.getMessage());
            return FleetMembers.NONE;
        }
    }

    /** Replaces the file. */
    public void write(FleetMembers members) throws IOException {
        Files.createDirectories(directory);
        Path unfinished = directory.resolve("members-unfinished");
        Files.writeString(unfinished, members.text());
        Files.move(
                unfinished,
                directory.resolve(FILE),
                StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
    }
}
