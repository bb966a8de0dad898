package io.millrace.store.io;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The process that holds the lease of a directory or the lock of a file.
 *
 * @param pid its process id, 0 if not known
 * @param host the machine it runs on, null if not known
 */
public record LockHolder(long pid, @Nullable String host) {
    private static final LockHolder UNKNOWN = new LockHolder(0, null);
    private static final Path LOCKS = Path.of("/proc/locks");
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private static final String PID = "pid ";
    private static final String ON_HOST = " on host ";

    /** Returns this process. */
    static LockHolder self() {
        return new LockHolder(ProcessHandle.current().pid(), hostName());
    }

    /**
     * Returns the process that holds the lease of a directory; null if no other process does. Acquires the lease
     * briefly and creates no file.
     */
    public static @Nullable LockHolder ofDirectory(Path directory) {
        Path lock = directory.resolve(LockFileLease.LOCK_FILE);
        try {
            // Opening and closing a second channel would release the lock of this process.
            if (!Files.isRegularFile(lock) || LockFileLease.isHeldByThisProcess(directory)) {
                return null;
            }
            try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
                    FileLock free = channel.tryLock()) {
                return free == null ? read(directory) : null;
            }
        } catch (IOException | OverlappingFileLockException e) {
            // No report here: the store opens the same file next and reports the error.
            return null;
        }
    }

    /**
     * Returns the process that has a lock on a file or device, from {@code /proc/locks}. Null if no process is known.
     * Does not open the file or device.
     */
    public static @Nullable LockHolder ofFile(Path file) {
        try {
            Map<String, Object> found = Files.readAttributes(file, "unix:dev,ino");
            if (!(found.get("dev") instanceof Number dev) || !(found.get("ino") instanceof Number inode)) {
                return null;
            }
            for (String line : Files.readAllLines(LOCKS, StandardCharsets.ISO_8859_1)) {
                LockHolder holder = ofLine(line, FileKind.number(dev.longValue()), inode.longValue());
                if (holder != null) {
                    return holder;
                }
            }
            return null;
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            return null;
        }
    }

    /**
     * Parses a line of {@code /proc/locks}, such as {@code 1: POSIX ADVISORY WRITE 4711 fd:01:1234567 0 EOF}. The
     * device number is hexadecimal.
     */
    private static @Nullable LockHolder ofLine(String line, String device, long inode) {
        List<String> words = new ArrayList<>();
        for (String word : line.split(" ", -1)) {
            if (!word.isEmpty()) {
                words.add(word);
            }
        }
        if (words.size() < 6) {
            return null;
        }
        long pid = Long.parseLong(words.get(4));
        String[] file = words.get(5).split(":", -1);
        return words.get(1).equals("POSIX")
                        && words.get(3).equals("WRITE")
                        && file.length == 3
                        && Long.parseLong(file[2]) == inode
                        && device.equals(Integer.parseInt(file[0], 16) + ":" + Integer.parseInt(file[1], 16))
                ? new LockHolder(pid, hostName())
                : null;
    }

    /** Reads the text that the holder wrote when it acquired the lease. */
    static LockHolder read(Path directory) {
        try {
            String text = Files.readString(directory.resolve(LockFileLease.OWNER_FILE), StandardCharsets.UTF_8);
            String words = text.strip();
            if (!words.startsWith(PID)) {
                return UNKNOWN;
            }
            int host = words.indexOf(ON_HOST);
            long pid = Long.parseLong(words.substring(PID.length(), host < 0 ? words.length() : host));
            return new LockHolder(pid, host < 0 ? null : words.substring(host + ON_HOST.length()));
        } catch (IOException | NumberFormatException e) {
            return UNKNOWN;
        }
    }

    private static @Nullable String hostName() {
        try {
            List<String> lines = Files.readAllLines(HOST_NAME, StandardCharsets.UTF_8);
            String name = lines.isEmpty() ? "" : lines.get(0).strip();
            return name.isEmpty() || name.indexOf(' ') >= 0 ? null : name;
        } catch (IOException e) {
            return null;
        }
    }

    /** Returns a text like {@code pid 4711 on host cache1}. */
    @Override
    public String toString() {
        return (pid == 0 ? "pid unknown" : PID + pid) + (host == null ? "" : ON_HOST + host);
    }
}
