package io.millrace.proxy.server;

import io.millrace.proxy.origin.HostHistory;
import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.origin.OriginGroups;
import io.millrace.proxy.origin.OriginHost;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file that keeps the history of origin hosts across restarts. A line per host contains group, URL, HTTP
 * version, requests, failures, and the times of the last response and failure. The file is written every 5 s if the
 * history has changed, so that a crash loses little.
 *
 * <p>Thread-safe. A missing or unreadable file counts as empty.
 */
public final class OriginRecords {
    private static final Logger log = LoggerFactory.getLogger(OriginRecords.class);
    private static final long WRITE_SECONDS = 5;
    private static final int FIELDS = 7;

    private final Path file;
    private final OriginGroups groups;
    private final ReentrantLock writing = new ReentrantLock();
    /** Content of the file as last written by this process. */
    private String written = "";
    /** True after {@link #end}: the file is not written any more. */
    private boolean ended;

    private @Nullable Future<?> ticking;

    public OriginRecords(Path file, OriginGroups groups) {
        this.file = file;
        this.groups = groups;
    }

    /** Restores the history of the hosts from the file. Blocks; call before the first request. */
    public void restore() {
        try {
            for (String line : Files.readAllLines(file)) {
                restore(line);
            }
        } catch (NoSuchFileException e) {
            log.debug("no saved state of origins: {} does not exist", file);
        } catch (IOException e) {
            log.warn("the saved state of origins cannot be read: {}", file, e);
        }
    }

    private void restore(String line) {
        String[] fields = line.split(" ", FIELDS);
        try {
            HostHistory history = new HostHistory(
                    Integer.parseInt(fields[2]),
                    Long.parseLong(fields[3]),
                    Long.parseLong(fields[4]),
                    Long.parseLong(fields[5]),
                    Long.parseLong(fields[6]));
            groups.all().stream()
                    .filter(group -> group.name().equals(fields[0]))
                    .flatMap(group -> group.hosts().stream())
                    .filter(host -> host.toString().equals(fields[1]))
                    .forEach(host -> host.restoreHistory(history));
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            log.warn("a line of {} cannot be read: {}", file, line);
        }
    }

    /** Starts to write the file periodically, on a timer of {@code loop}. */
    public void start(EventExecutor loop) {
        ticking = loop.scheduleWithFixedDelay(
                () -> CompletableFuture.runAsync(this::write), WRITE_SECONDS, WRITE_SECONDS, TimeUnit.SECONDS);
    }

    /** Writes the file for the last time. The next worker (proxy process) may write it from now on. Blocks. */
    public void end() {
        if (ticking != null) {
            ticking.cancel(false);
        }
        write();
        writing.lock();
        try {
            ended = true;
        } finally {
            writing.unlock();
        }
    }

    /** Writes the file if the history has changed. Blocks. */
    public void write() {
        writing.lock();
        try {
            String now = lines();
            if (!ended && !now.equals(written)) {
                Path fresh = file.resolveSibling(file.getFileName() + ".new");
                Files.writeString(fresh, now, StandardCharsets.UTF_8);
                Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                written = now;
            }
        } catch (IOException e) {
            log.warn("the state of origins cannot be saved: {}", file, e);
        } finally {
            writing.unlock();
        }
    }

    private String lines() {
        StringBuilder lines = new StringBuilder();
        for (OriginGroup group : groups.all()) {
            for (OriginHost host : group.hosts()) {
                HostHistory history = host.history();
                lines.append(group.name()).append(' ').append(host).append(' ');
                lines.append(history.version()).append(' ').append(history.requests());
                lines.append(' ').append(history.failures()).append(' ');
                lines.append(history.answeredMillis()).append(' ').append(history.failedMillis());
                lines.append('\n');
            }
        }
        return lines.toString();
    }
}
