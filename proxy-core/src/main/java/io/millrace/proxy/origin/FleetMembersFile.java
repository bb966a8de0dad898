package io.millrace.proxy.origin;

import io.millrace.proxy.config.value.InvalidValueException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file with the nodes of the fleet that accept requests. The launcher (the parent process) writes it, and workers
 * (proxy processes) read it at their start and after each change. So a node without a connection to its fleet keeps the
 * last known nodes, also across restarts. Blocks. One thread writes; any thread may read.
 */
public final class FleetMembersFile {
    private static final Logger LOG = LoggerFactory.getLogger(FleetMembersFile.class);
    private static final String FILE = "members";
    /** Beginning of the first line; the name of the fleet follows. */
    private static final String FLEET = "fleet ";

    private final Path directory;

    /** @param directory the directory of the fleet in the state directory */
    public FleetMembersFile(Path directory) {
        this.directory = directory;
    }

    /** Returns the nodes in the file, of any fleet; an empty list if the file is missing or unreadable. */
    public FleetMembers read() {
        return readIf(null);
    }

    /** Returns the nodes in the file; none if it is missing or unreadable, or contains the nodes of another fleet. */
    public FleetMembers read(String fleet) {
        return readIf(fleet);
    }

    private FleetMembers readIf(@Nullable String fleet) {
        Path file = directory.resolve(FILE);
        try {
            String text = Files.readString(file);
            int end = text.indexOf('\n');
            if (!text.startsWith(FLEET) || end < 0) {
                throw new InvalidValueException("the first line does not name the fleet");
            }
            boolean isOther = fleet != null && !fleet.equals(text.substring(FLEET.length(), end));
            return isOther ? FleetMembers.NONE : FleetMembers.parse(text.substring(end + 1));
        } catch (NoSuchFileException e) {
            return FleetMembers.NONE;
        } catch (IOException | InvalidValueException e) {
            LOG.warn("the nodes of the fleet cannot be read from {}: {}", file, e.getMessage());
            return FleetMembers.NONE;
        }
    }

    /**
     * Replaces the file.
     *
     * @param fleet name of the fleet
     */
    public void write(String fleet, FleetMembers members) throws IOException {
        Files.createDirectories(directory);
        Path unfinished = directory.resolve("members-unfinished");
        Files.writeString(unfinished, FLEET + fleet + "\n" + members.text());
        Files.move(
                unfinished,
                directory.resolve(FILE),
                StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
    }
}
