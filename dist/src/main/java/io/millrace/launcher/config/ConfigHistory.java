package io.millrace.launcher.config;

import io.millrace.proxy.config.ConfigChange;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.FileKeys;
import io.millrace.worker.control.ConfigSource;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The history of applied configurations. Each entry is a file in the state directory, which only this user can read. An
 * entry contains the configuration text as it was written, so environment variables and secret files appear only by
 * name.
 *
 * <p>Thread-safe: one thread writes each file completely and then renames it; any thread may read.
 */
final class ConfigHistory {
    private static final Logger LOG = LoggerFactory.getLogger(ConfigHistory.class);
    private static final String SUFFIX = ".json";

    private final Path directory;
    /** Number of the entry that was applied last; 0 before the first entry. */
    private volatile int running;
    /** Number of the entry that the last rollback restored; 0 if another change followed. */
    private volatile int rolledBack;

    ConfigHistory(Path directory) {
        this.directory = directory;
    }

    /** Number of the entry that was applied last. */
    int runningNumber() {
        return running;
    }

    /** Records the configuration at the start of the launcher. Does nothing if the newest entry has the same texts. */
    void begin(ConfigSource source, ProxyConfig config) {
        try {
            NavigableMap<Integer, Path> files = files();
            if (isNewest(files, source)) {
                running = files.lastKey();
                return;
            }
        } catch (IOException e) {
            LOG.warn("the configuration history cannot be read: {}", e.getMessage());
        }
        record(source, config, "start", List.of(), new ArrayList<>());
    }

    /**
     * Adds an entry, unless nothing has changed. Deletes the oldest entries beyond the configured limit.
     *
     * @param by command that applied the configuration
     * @param changes the changed settings
     * @param notes receives a warning if the entry cannot be written; the configuration stays in force
     */
    void record(ConfigSource source, ProxyConfig config, String by, List<ConfigChange> changes, List<String> notes) {
        try {
            createDirectory();
            NavigableMap<Integer, Path> files = files();
            if (changes.isEmpty() && isNewest(files, source)) {
                return;
            }
            int number = files.isEmpty() ? 1 : files.lastKey() + 1;
            String at = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
            List<String> changed = changes.stream().map(ConfigChange::key).toList();
            Path file = directory.resolve(number + SUFFIX);
            Path unfinished = directory.resolve("unfinished");
            Files.deleteIfExists(unfinished);
            new HistoryEntry(number, at, by, changed, source).write(unfinished);
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
            running = number;
            rolledBack = 0;
            files.put(number, file);
            while (files.size() > config.values().get(FileKeys.HISTORY)) {
                Files.deleteIfExists(files.pollFirstEntry().getValue());
            }
        } catch (IOException e) {
            LOG.warn("the configuration cannot be added to the configuration history: {}", e.getMessage());
            notes.add("the configuration could not be added to the history: " + e.getMessage());
        }
    }

    private static boolean isNewest(NavigableMap<Integer, Path> files, ConfigSource source) {
        try {
            return !files.isEmpty()
                    && HistoryEntry.read(files.lastEntry().getValue()).source().equals(source);
        } catch (IOException e) {
            LOG.warn("an entry of the configuration history cannot be read: {}", e.getMessage());
            return false;
        }
    }

    private void createDirectory() throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
    }

    /** Returns the entries without their configuration texts, oldest first. */
    List<HistoryEntry> entries() {
        List<HistoryEntry> entries = new ArrayList<>();
        try {
            for (Path file : files().values()) {
                addTo(entries, file);
            }
        } catch (IOException e) {
            LOG.warn("the configuration history cannot be listed: {}", e.getMessage());
        }
        return entries;
    }

    private static void addTo(List<HistoryEntry> entries, Path file) {
        try {
            entries.add(HistoryEntry.readHead(file));
        } catch (IOException e) {
            LOG.warn("an entry of the configuration history cannot be read: {}", e.getMessage());
        }
    }

    /** Returns the texts of an entry. */
    ConfigSource source(int number) throws IOException {
        try {
            return HistoryEntry.read(directory.resolve(number + SUFFIX)).source();
        } catch (NoSuchFileException e) {
            throw new IOException("the history has no configuration " + number + "; millctl config history lists all");
        }
    }

    /**
     * Records a rollback to entry {@code number}. The next rollback without a number restores the entry before it.
     */
    void rolledBack(int number) {
        rolledBack = number;
    }

    /**
     * Returns the number of the entry before the configuration in force.
     *
     * @param rolledBackTo entry that is in force instead of the file; 0 for the file
     */
    int numberBefore(int rolledBackTo) throws IOException {
        int last = rolledBack > 0 ? rolledBack : running;
        int now = rolledBackTo > 0 ? rolledBackTo : last;
        Integer before = files().lowerKey(now);
        if (before == null) {
            throw new IOException("the history has no configuration before number " + now);
        }
        return before;
    }

    private NavigableMap<Integer, Path> files() throws IOException {
        NavigableMap<Integer, Path> files = new TreeMap<>();
        if (!Files.isDirectory(directory)) {
            return files;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
            for (Path entry : entries) {
                String name = String.valueOf(entry.getFileName());
                String number = name.substring(0, name.length() - SUFFIX.length());
                if (number.matches("[1-9][0-9]{0,8}")) {
                    files.put(Integer.valueOf(number), entry);
                }
            }
        }
        return files;
    }
}
