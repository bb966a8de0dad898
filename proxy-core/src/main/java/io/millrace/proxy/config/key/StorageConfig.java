package io.millrace.proxy.config.key;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One volume of the cache on disk. Immutable.
 *
 * @param path absolute directory, block device or file
 * @param sizeBytes disk space that it takes, 0 for a whole block device
 * @param indexPath directory of the index of a block device or file, null for a directory
 * @param format whether a block device or file that holds something else may be written over, once
 */
public record StorageConfig(
        Path path, long sizeBytes, @Nullable Path indexPath, boolean format) {
    private static final Path DEVICES = Path.of("/dev");
    private static final Path MEMORY_FILES = Path.of("/dev/shm");

    /** A directory. */
    public StorageConfig(Path path, long sizeBytes) {
        this(path, sizeBytes, null, false);
    }

    public static StorageConfig from(ConfigValues element) {
        Long size = element.find(ConfigKeys.STORAGE_SIZE);
        return new StorageConfig(
                element.get(ConfigKeys.STORAGE_PATH),
                size == null ? 0 : size,
                element.find(ConfigKeys.STORAGE_INDEX_PATH),
                element.get(ConfigKeys.STORAGE_FORMAT));
    }

    /** Whether the path is a block device or a file, as far as can be seen: also one below /dev that is not there now. */
    public boolean isDeviceOrFile() {
        return indexPath != null || isDeviceOrFile(path);
    }

    public static boolean isDeviceOrFile(Path path) {
        return Files.exists(path) ? !Files.isDirectory(path) : isBelowDevices(path);
    }

    /** Whether it needs no size. */
    public static boolean isDevice(Path path) {
        return Files.exists(path) ? !Files.isDirectory(path) && !Files.isRegularFile(path) : isBelowDevices(path);
    }

    private static boolean isBelowDevices(Path path) {
        Path normal = path.normalize();
        return normal.startsWith(DEVICES) && !normal.startsWith(MEMORY_FILES);
    }

    /**
     * The element with a directory for its index below this one, if it needs one and has none. A path that had one
     * before is a file still, though the file be missing now.
     */
    public static ConfigValues withIndexBelow(ConfigValues element, Path directory) {
        Path path = element.get(ConfigKeys.STORAGE_PATH);
        Path index = directory.resolve(nameOf(path));
        boolean needed = isDeviceOrFile(path) || (!Files.exists(path) && Files.isDirectory(index));
        if (!needed || element.find(ConfigKeys.STORAGE_INDEX_PATH) != null) {
            return element;
        }
        return element.toBuilder().set(ConfigKeys.STORAGE_INDEX_PATH, index).build();
    }

    /** The path in one name that no other path has: dashes for slashes, and all but the plainest signs as %xx. */
    private static String nameOf(Path path) {
        StringBuilder name = new StringBuilder();
        byte[] bytes = path.normalize().toString().getBytes(StandardCharsets.UTF_8);
        for (int i = bytes[0] == '/' ? 1 : 0; i < bytes.length; i++) {
            char sign = (char) (bytes[i] & 0xff);
            boolean plain = sign < 0x80 && (Character.isLetterOrDigit(sign) || sign == '.' || sign == '_');
            if (plain) {
                name.append(sign);
            } else if (sign == '/') {
                name.append('-');
            } else {
                name.append('%').append(Integer.toHexString(sign));
            }
        }
        return name.toString();
    }
}
