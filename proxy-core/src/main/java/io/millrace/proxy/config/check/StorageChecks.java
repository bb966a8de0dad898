package io.millrace.proxy.config.check;

import com.sun.nio.file.ExtendedOpenOption;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.StorageConfig;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.key.VolumeShareConfig;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.value.Units;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks the storage paths and volumes of the cache before they are opened. */
final class StorageChecks {
    /** Minimum size of a volume's share of a storage path. */
    private static final long SHARE_BYTES_MIN = 1 << 20;

    /** Limit of storage paths multiplied by volumes (with the volume default): each volume has one part per path. */
    private static final int PARTS_MAX = 64;

    private static final Pattern NAME = Pattern.compile("[a-z0-9_-]{1,32}");
    private static final Pattern HOST = Pattern.compile("\\.?[A-Za-z0-9_:-]+(\\.[A-Za-z0-9_-]+)*");
    /** Names of other cache files in a storage path; volumes must not have these names. */
    private static final List<String> RESERVED =
            List.of("volume", "index", "lock", "owner", "inventory", "object-lists");

    private final ConfigProblems problems;
    private final Place wholeFile;
    private final Function<Path, @Nullable String> refusingFileSystem;

    StorageChecks(ConfigProblems problems, Place wholeFile) {
        this(problems, wholeFile, DirectWriteProbe::refusingFileSystem);
    }

    /**
     * Creates the checks.
     *
     * @param refusingFileSystem returns the type of a path's file system if it refuses direct writes, otherwise null
     */
    StorageChecks(ConfigProblems problems, Place wholeFile, Function<Path, @Nullable String> refusingFileSystem) {
        this.problems = problems;
        this.wholeFile = wholeFile;
        this.refusingFileSystem = refusingFileSystem;
    }

    void check(ConfigValues values) {
        List<ConfigValues> storage = values.elements(ConfigKeys.STORAGE);
        checkPaths(storage);
        checkFileSystemSizes(storage);
        List<ConfigValues> volumes = values.elements(ConfigKeys.VOLUMES);
        checkNames(volumes);
        checkShares(storage, volumes);
        if (!volumes.isEmpty()) {
            refuseDevicesForVolumes(storage);
        }
        checkHosts(volumes);
        checkUses(values, volumes);
    }

    private void checkNames(List<ConfigValues> volumes) {
        Map<String, Integer> seen = new HashMap<>();
        for (int i = 0; i < volumes.size(); i++) {
            String name = volumes.get(i).find(ConfigKeys.VOLUMES_NAME);
            if (name == null) {
                continue;
            }
            Integer first = seen.putIfAbsent(name, i);
            if (first != null) {
                volumeError(i, "name", name + " is already volumes[" + first + "]");
            } else if (name.equals(VolumeShareConfig.DEFAULT_NAME)) {
                volumeError(i, "name", "'" + name + "' is the name of the space without a share; choose another name");
            } else if (!NAME.matcher(name).matches() || RESERVED.contains(name)) {
                volumeError(
                        i,
                        "name",
                        "'" + name + "' is not permitted; a name has 1 to 32 lower-case letters, digits, '-' and '_',"
                                + " and is not the name of a file of the cache: " + String.join(", ", RESERVED));
            }
        }
    }

    private void checkShares(List<ConfigValues> storage, List<ConfigValues> volumes) {
        double sum = 0;
        for (int i = 0; i < volumes.size(); i++) {
            Double share = volumes.get(i).find(ConfigKeys.VOLUMES_SHARE);
            sum += share == null ? 0 : share;
            if (sum >= 1) {
                volumeError(
                        i,
                        "share",
                        "the shares add up to " + ValueType.PERCENT.format(sum)
                                + "; the sum must be less than 100%, because the rest is for all other responses");
                return;
            }
        }
        for (int i = 0; i < storage.size(); i++) {
            Long size = storage.get(i).find(ConfigKeys.STORAGE_SIZE);
            for (int j = 0; size != null && j < volumes.size(); j++) {
                Double share = volumes.get(j).find(ConfigKeys.VOLUMES_SHARE);
                if (share != null && Math.min(share, 1 - sum) * size < SHARE_BYTES_MIN) {
                    volumeError(
                            j,
                            "share",
                            "leaves less than " + Units.formatSize(SHARE_BYTES_MIN) + " of storage[" + i
                                    + "] to this volume or to the volume default; raise storage[" + i
                                    + "].size, or change the share");
                }
            }
        }
        if (storage.size() * (volumes.size() + 1) > PARTS_MAX) {
            String path = volumes.isEmpty() ? "storage" : "volumes";
            problems.error(
                    problems.placeOf(path, wholeFile),
                    path,
                    storage.size() + " storage paths × " + (volumes.size() + 1)
                            + " volumes (with the volume default) = "
                            + storage.size() * (volumes.size() + 1) + ", limit=" + PARTS_MAX
                            + "; configure fewer paths or volumes");
        }
    }

    private void checkHosts(List<ConfigValues> volumes) {
        Map<String, Integer> seen = new HashMap<>();
        for (int i = 0; i < volumes.size(); i++) {
            List<String> hosts = volumes.get(i).find(ConfigKeys.VOLUMES_HOSTS);
            VolumeShareConfig.Scheme scheme = volumes.get(i).find(ConfigKeys.VOLUMES_SCHEME);
            Integer same = hosts == null && scheme != null ? seen.putIfAbsent(scheme + "://", i) : null;
            if (same != null) {
                volumeError(i, "scheme", "all hosts with this scheme are already in volumes[" + same + "]");
            }
            for (String host : hosts == null ? List.<String>of() : hosts) {
                String name = host.startsWith("*.") ? host.substring(1) : host;
                String key = (scheme == null ? "" : scheme + "://") + name.toLowerCase(Locale.ROOT);
                Integer first = seen.putIfAbsent(key, i);
                if (!HOST.matcher(name).matches()) {
                    volumeError(i, "hosts", "'" + host + "' is neither a host nor a domain such as *.example.com");
                } else if (first != null) {
                    volumeError(i, "hosts", host + " is already in volumes[" + first + "]");
                }
            }
        }
    }

    private void checkUses(ConfigValues values, List<ConfigValues> volumes) {
        Set<String> names = new HashSet<>(Set.of(VolumeShareConfig.DEFAULT_NAME));
        for (ConfigValues volume : volumes) {
            String name = volume.find(ConfigKeys.VOLUMES_NAME);
            if (name != null) {
                names.add(name);
            }
        }
        checkUse(values, "", names);
        List<ConfigValues> rules = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < rules.size(); i++) {
            checkUse(rules.get(i), "remap[" + i + "].", names);
        }
    }

    private void checkUse(ConfigValues values, String prefix, Set<String> names) {
        String name = values.find(ConfigKeys.CACHE_VOLUME);
        if (name != null && !names.contains(name) && !problems.isBroken("volumes")) {
            String path = prefix + ConfigKeys.CACHE_VOLUME.path();
            problems.error(
                    problems.placeOf(path, wholeFile),
                    path,
                    "no volume has the name '" + name + "' in volumes",
                    problems.closest(name, names));
        }
    }

    private void volumeError(int number, String key, String message) {
        String path = "volumes[" + number + "]." + key;
        problems.error(problems.placeOf(path, wholeFile), path, message);
    }

    private void checkPaths(List<ConfigValues> storage) {
        for (int i = 0; i < storage.size(); i++) {
            Path path = storage.get(i).find(ConfigKeys.STORAGE_PATH);
            if (path == null || overlapsEarlierPath(storage, i, path)) {
                continue;
            }
            checkKind(storage.get(i), i, path);
        }
    }

    private void checkKind(ConfigValues storage, int number, Path path) {
        boolean isDirectory = Files.isDirectory(path);
        if (isDirectory && storage.find(ConfigKeys.STORAGE_INDEX_PATH) != null) {
            error(number, "index_path", "is only for block devices and files, but " + path + " is a directory");
        }
        if (isDirectory && storage.get(ConfigKeys.STORAGE_FORMAT)) {
            error(number, "format", "is only for block devices and files, but " + path + " is a directory");
        }
        checkDirectWrites(storage, number, path);
        String size = "storage[" + number + "].size";
        if (storage.find(ConfigKeys.STORAGE_SIZE) == null
                && !problems.isBroken(size)
                && !StorageConfig.isDevice(path)) {
            problems.error(
                    at(number, "path"),
                    size,
                    "missing; only a block device needs no size, but " + path + " is not a block device");
        }
    }

    /** Refuses direct writes on a file system without them. Every block device has them. */
    private void checkDirectWrites(ConfigValues storage, int number, Path path) {
        boolean required = storage.get(ConfigKeys.STORAGE_DIRECT_WRITES) == StorageConfig.DirectWrites.ON;
        String refusing = required && !StorageConfig.isDevice(path) ? refusingFileSystem.apply(path) : null;
        if (refusing != null) {
            error(
                    number,
                    "direct_writes",
                    "the file system of " + path + " (" + refusing + ") refuses O_DIRECT; set auto or off");
        }
    }

    /** Refuses volumes on a block device or file: it cannot contain a directory for each volume. */
    private void refuseDevicesForVolumes(List<ConfigValues> storage) {
        for (int i = 0; i < storage.size(); i++) {
            Path path = storage.get(i).find(ConfigKeys.STORAGE_PATH);
            boolean hasIndex = storage.get(i).find(ConfigKeys.STORAGE_INDEX_PATH) != null;
            if (path != null && (hasIndex || StorageConfig.isDeviceOrFile(path))) {
                error(
                        i,
                        "path",
                        path + " is a block device or a file, and cannot be divided into volumes; create a file system"
                                + " on it and set path to a directory there, or remove volumes and list one partition"
                                + " for each storage path");
            }
        }
    }

    /** Returns true if the path equals, contains or is inside an earlier storage path. */
    private boolean overlapsEarlierPath(List<ConfigValues> storage, int number, Path path) {
        Path mine = path.normalize();
        for (int i = 0; i < number; i++) {
            Path other = storage.get(i).find(ConfigKeys.STORAGE_PATH);
            if (other == null) {
                continue;
            }
            Path before = other.normalize();
            if (mine.equals(before)) {
                error(number, "path", path + " is already storage[" + i + "]");
                return true;
            }
            if (mine.startsWith(before) || before.startsWith(mine)) {
                String how = mine.startsWith(before) ? " is inside " : " contains ";
                error(number, "path", path + how + other + ", which is storage[" + i + "]");
                return true;
            }
        }
        return false;
    }

    /** Warns if a file system is smaller than the total size of the volumes on it. */
    private void checkFileSystemSizes(List<ConfigValues> storage) {
        Map<FileStore, Long> wanted = new HashMap<>();
        for (int i = 0; i < storage.size(); i++) {
            Path path = storage.get(i).find(ConfigKeys.STORAGE_PATH);
            Long size = storage.get(i).find(ConfigKeys.STORAGE_SIZE);
            FileStore on = path == null || size == null || StorageConfig.isDevice(path) ? null : fileSystem(path);
            if (on == null || size == null) {
                continue;
            }
            long sum = wanted.merge(on, size, Long::sum);
            long total = total(on);
            if (sum > total && total > 0) {
                problems.warning(
                        at(i, "size"),
                        "storage[" + i + "].size",
                        "the file system of " + path + " has " + Units.formatSize(total)
                                + ", but the storage paths on it have " + Units.formatSize(sum)
                                + " together; lower their sizes");
            }
        }
    }

    /**
     * Returns the file system of the path, or of its nearest existing parent. Returns null if it cannot be determined.
     */
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
        return problems.placeOf("storage[" + number + "]." + key, wholeFile);
    }

    /**
     * Determines whether a file system permits direct writes (O_DIRECT), with an empty temporary file. It does not open
     * the files of a store: to close one of them would release the store's lock. Stateless.
     */
    static final class DirectWriteProbe {
        private DirectWriteProbe() {}

        /**
         * Returns the type of the file system that will contain the path, such as tmpfs, if it refuses direct writes.
         * Null if it permits them or if no file can be created there; other checks report that.
         */
        static @Nullable String refusingFileSystem(Path path) {
            Path at = path.toAbsolutePath();
            while (at != null && !Files.isDirectory(at)) {
                at = at.getParent();
            }
            if (at == null) {
                return null;
            }
            try {
                Path file = Files.createTempFile(at, ".direct-", ".tmp");
                try {
                    return opensDirect(file) ? null : Files.getFileStore(at).type();
                } finally {
                    Files.delete(file);
                }
            } catch (IOException e) {
                return null;
            }
        }

        private static boolean opensDirect(Path file) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE, ExtendedOpenOption.DIRECT)) {
                return channel.isOpen();
            } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
                return false;
            }
        }
    }
}
