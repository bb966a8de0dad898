package io.millrace.proxy.config;

import io.millrace.proxy.config.ConfigProblems.Place;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What can be known of the cache's places on disk before they are opened. */
final class StorageChecks {
    private final ConfigProblems problems;
    private final Place whole;

    StorageChecks(ConfigProblems problems, Place whole) {
        this.problems = problems;
        this.whole = whole;
    }

    void check(ConfigValues values) {
        List<ConfigValues> storage = ProxyConfig.elements(values, ConfigKeys.STORAGE);
        checkPaths(storage);
        checkRoom(storage);
    }

    private void checkPaths(List<ConfigValues> storage) {
        for (int i = 0; i < storage.size(); i++) {
            Path path = storage.get(i).find(ConfigKeys.STORAGE_PATH);
            if (path == null || clashes(storage, i, path)) {
                continue;
            }
            if (Files.exists(path) && !Files.isDirectory(path)) {
                error(i, "path", path + " is not a directory");
            }
        }
    }

    /** Whether the path is, holds or lies in one that stands before it. */
    private boolean clashes(List<ConfigValues> storage, int number, Path path) {
        Path mine = path.normalize();
        for (int i = 0; i < number; i++) {
            Path other = storage.get(i).find(ConfigKeys.STORAGE_PATH);
            if (other == null) {
                continue;
            }
            Path before = other.normalize();
            if (mine.equals(before)) {
                error(number, "path", path + " is storage[" + i + "] already");
                return true;
            }
            if (mine.startsWith(before) || before.startsWith(mine)) {
                String how = mine.startsWith(before) ? " lies in " : " holds ";
                error(number, "path", path + how + other + ", which is storage[" + i + "]");
                return true;
            }
        }
        return false;
    }

    /** Warns where a file system is smaller than all that shall lie on it. */
    private void checkRoom(List<ConfigValues> storage) {
        Map<FileStore, Long> wanted = new HashMap<>();
        for (int i = 0; i < storage.size(); i++) {
            Path path = storage.get(i).find(ConfigKeys.STORAGE_PATH);
            Long size = storage.get(i).find(ConfigKeys.STORAGE_SIZE);
            FileStore on = path == null || size == null ? null : fileSystem(path);
            if (on == null || size == null) {
                continue;
            }
            long sum = wanted.merge(on, size, Long::sum);
            long total = total(on);
            if (sum > total && total > 0) {
                problems.warning(
                        at(i, "size"),
                        "storage[" + i + "].size",
                        "the file system of " + path + " holds " + Units.formatSize(total) + " in all, and "
                                + Units.formatSize(sum) + " shall lie on it");
            }
        }
    }

    /** Where the path lies, or will lie once it is made; null when that cannot be told. */
    private static @Nullable FileStore fileSystem(Path path) {
        Path at = path.toAbsolutePath();
        while (at != null && !Files.exists(at)) {
            at = at.getParent();
        }
        try {
            return at == null ? null : Files.getFileStore(at);
        } catch (IOException e) {
            return null;
        }
    }

    private static long total(FileStore store) {
        try {
            return store.getTotalSpace();
        } catch (IOException e) {
            return 0;
        }
    }

    private void error(int number, String key, String message) {
        problems.error(at(number, key), "storage[" + number + "]." + key, message);
    }

    private Place at(int number, String key) {
        return problems.placeOf("storage[" + number + "]." + key, whole);
    }
}
