package io.millrace.proxy.geo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files with the databases of IP address locations that the configuration names. {@link #check} reopens a file
 * after it has changed. If the new version of a file cannot be used, the previous version stays in use, and the file is
 * tried again at the next check.
 *
 * <p>Thread-safe. {@link #current} does not block.
 */
public final class GeoFiles {
    private static final Logger log = LoggerFactory.getLogger(GeoFiles.class);

    /** Identifies one version of a file. The stamp of a missing file has no key and the size -1. */
    private record Stamp(
            @Nullable Object key, long size, @Nullable FileTime modified) {
        static Stamp of(Path path) {
            try {
                BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class);
                return new Stamp(found.fileKey(), found.size(), found.lastModifiedTime());
            } catch (IOException e) {
                return new Stamp(null, -1, null);
            }
        }
    }

    /** One file, and the version of it that is in use. */
    private static final class Source {
        private @Nullable Path path;
        /** The version in use; null after a failure, so that the file is opened again. */
        private @Nullable Stamp stamp;

        private @Nullable MmdbFile file;
        /** The failure that was logged last, so that it is not logged again; null for none. */
        private @Nullable String lastLogged;

        /**
         * Reopens the file if the configuration names another path, or if the file has changed. Returns true if the
         * file was reopened.
         */
        boolean update(@Nullable Path configuredPath) {
            Stamp now = configuredPath == null ? null : Stamp.of(configuredPath);
            if (Objects.equals(path, configuredPath) && (configuredPath == null || Objects.equals(stamp, now))) {
                return false;
            }
            boolean pathChanged = !Objects.equals(path, configuredPath);
            path = configuredPath;
            stamp = now;
            try {
                file = configuredPath == null ? null : MmdbFile.open(configuredPath);
                lastLogged = null;
                return true;
            } catch (MmdbException e) {
                stamp = null;
                file = pathChanged ? null : file;
                report(e.getMessage()
                        + (file == null ? "; locations are unknown" : "; the previous version stays in use"));
                return pathChanged;
            }
        }

        private void report(String failure) {
            if (!failure.equals(lastLogged)) {
                lastLogged = failure;
                log.error("{}; the next attempt to open the file follows within 10 s", failure);
            }
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Source places = new Source();
    private final Source networks = new Source();
    private volatile @Nullable GeoDatabase current;
    private volatile boolean used;

    /** Creates an object without files. */
    public GeoFiles() {}

    /**
     * Opens the files of a configuration that are not open yet. Blocks.
     *
     * @param placesPath database of countries or cities; null for none
     * @param networksPath database of autonomous systems; null for none
     */
    public void apply(@Nullable Path placesPath, @Nullable Path networksPath) {
        lock.lock();
        try {
            used = placesPath != null || networksPath != null;
            boolean placesChanged = places.update(placesPath);
            boolean networksChanged = networks.update(networksPath);
            if (placesChanged || networksChanged) {
                current =
                        placesPath == null && networksPath == null ? null : new GeoDatabase(places.file, networks.file);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Reopens changed files. Blocks. */
    public void check() {
        lock.lock();
        try {
            apply(places.path, networks.path);
        } finally {
            lock.unlock();
        }
    }

    /** Returns true if the configuration names a file. */
    public boolean isUsed() {
        return used;
    }

    /** The databases in use; null if the configuration names none. */
    public @Nullable GeoDatabase current() {
        return current;
    }
}
