package io.millrace.proxy.config.key;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A storage path of the disk cache: a directory, block device or file. Immutable.
 *
 * @param path absolute directory, block device or file
 * @param sizeBytes disk space for the cache; 0 for a whole block device
 * @param indexPath directory of the index of a block device or file; null for a directory
 * @param format whether the device or file may be overwritten if it has other content than a Millrace volume. Applies
 *     once: later starts find a volume
 * @param directWrites whether writes of records bypass the page cache (O_DIRECT)
 */
public record StorageConfig(
        Path path, long sizeBytes, @Nullable Path indexPath, boolean format, DirectWrites directWrites) {
    private static final Path DEVICES = Path.of("/dev");
    private static final Path MEMORY_FILES = Path.of("/dev/shm");

    /** Values of {@code storage[].direct_writes}. */
    public enum DirectWrites {
        AUTO,
        ON,
        OFF
    }

    /** Creates the settings of a directory. */
    public StorageConfig(Path path, long sizeBytes) {
        this(path, sizeBytes, null, false, DirectWrites.OFF);
    }

    public static StorageConfig from(ConfigValues element) {
        Long size = element.find(ConfigKeys.STORAGE_SIZE);
        return new StorageConfig(
                element.get(ConfigKeys.STORAGE_PATH),
                size == null ? 0 : size,
                element.find(ConfigKeys.STORAGE_INDEX_PATH),
                element.get(ConfigKeys.STORAGE_FORMAT),
                element.get(ConfigKeys.STORAGE_DIRECT_WRITES));
    }

    /** Returns true if the path is a block device or a file. A missing path below /dev counts as a device. */
    public boolean isDeviceOrFile() {
        return indexPath != null || isDeviceOrFile(path);
    }

    public static boolean isDeviceOrFile(Path path) {
        return Files.exists(path) ? !Files.isDirectory(path) : isBelowDevices(path);
    }

    /**
     * Returns true if the path is a block device, which needs no size. A missing path below /dev counts as a device.
     */
    public static boolean isDevice(Path path) {
        return Files.exists(path) ? !Files.isDirectory(path) && !Files.isRegularFile(path) : isBelowDevices(path);
    }

    private static boolean isBelowDevices(Path path) {
        Path normal = path.normalize();
        return normal.startsWith(DEVICES) && !normal.startsWith(MEMORY_FILES);
    }

    /**
     * Adds an index directory below {@code directory} to an element that needs one and does not set it. A missing path
     * counts as a file if the index directory of that file exists.
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

    /**
     * Returns a unique file name for the path. It has a dash for each slash, and %xx for each character except letters,
     * digits, dots and underscores.
     */
    private static String nameOf(Path path) {
        StringBuilder name = new StringBuilder();
        byte[] bytes = path.normalize().toString().getBytes(StandardCharsets.UTF_8);
        for (int i = bytes[0] == '/' ? 1 : 0; i < bytes.length; i++) {
            char c = (char) (bytes[i] & 0xff);
            boolean plain = c < 0x80 && (Character.isLetterOrDigit(c) || c == '.' || c == '_');
            if (plain) {
                name.append(c);
            } else if (c == '/') {
                name.append('-');
            } else {
                name.append('%').append(Integer.toHexString(c));
            }
        }
        return name.toString();
    }
}
