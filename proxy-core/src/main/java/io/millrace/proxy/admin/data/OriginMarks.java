package io.millrace.proxy.admin.data;

import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.origin.OriginHealth;
import io.millrace.proxy.origin.OriginHost;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of origin hosts that operators marked down, which the next worker process reads:
 *
 * <pre>shop http://10.0.0.1:8080 SINCE-MILLIS UNTIL-MILLIS REASON...</pre>
 *
 * A missing or unreadable file marks no host. Blocks; not for event loops. Confined to one thread at a time.
 */
public final class OriginMarks {
    private static final Logger log = LoggerFactory.getLogger(OriginMarks.class);
    private static final int FIELDS = 5;

    private final Path file;

    public OriginMarks(Path file) {
        this.file = file;
    }

    /** Marks the hosts in the file as down. */
    public void restore(Collection<OriginGroup> groups, long nowMillis) {
        try {
            for (String line : Files.readAllLines(file)) {
                restore(line, groups, nowMillis);
            }
        } catch (NoSuchFileException e) {
            log.debug("no origin is marked down by an operator: {} is missing", file);
        } catch (IOException e) {
            log.warn("the file of marked-down origins cannot be read, so all origins get requests: {}", file, e);
        }
    }

    private void restore(String line, Collection<OriginGroup> groups, long nowMillis) {
        String[] fields = line.split(" ", FIELDS);
        try {
            OriginHealth.ManualDown mark =
                    new OriginHealth.ManualDown(fields[4], Long.parseLong(fields[2]), Long.parseLong(fields[3]));
            boolean isGroupConfigured =
                    groups.stream().anyMatch(group -> group.name().equals(fields[0]));
            groups.stream()
                    // If the group in the file is not configured now, it may have another name. Then the host is marked
                    // in every group.
                    .filter(group -> !isGroupConfigured || group.name().equals(fields[0]))
                    .flatMap(group -> group.hosts().stream())
                    .filter(host -> host.toString().equals(fields[1]) && mark.until() > nowMillis)
                    .forEach(host -> host.markDown(mark, nowMillis));
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            log.warn("a line of {} cannot be read: {}", file, line);
        }
    }

    /** Replaces the file by the hosts that are marked down now. */
    void write(Collection<OriginGroup> groups, long nowMillis) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (OriginGroup group : groups) {
            for (OriginHost host : group.hosts()) {
                OriginHealth.ManualDown mark = host.health().manualDown();
                if (mark != null && mark.until() > nowMillis) {
                    lines.append(group.name())
                            .append(' ')
                            .append(host)
                            .append(' ')
                            .append(mark.since());
                    lines.append(' ')
                            .append(mark.until())
                            .append(' ')
                            .append(oneLine(mark.reason()))
                            .append('\n');
                }
            }
        }
        Path temporary = file.resolveSibling(file.getFileName() + ".new");
        try (FileChannel channel = FileChannel.open(
                temporary, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(lines.toString());
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        syncDirectory();
    }

    /** Forces the rename to disk by syncing the directory. No effect on systems that cannot open directories. */
    private void syncDirectory() throws IOException {
        Path directory = file.toAbsolutePath().getParent();
        if (directory != null && File.separatorChar == '/') {
            try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\p{Cntrl}", " ");
    }
}
