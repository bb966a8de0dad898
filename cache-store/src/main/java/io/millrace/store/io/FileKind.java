package io.millrace.store.io;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The identity of a regular file or block device, determined without opening it. Opening a pipe would block, and
 * opening some devices has side effects.
 *
 * @param key identity of the file or device: equal for all paths that lead to it
 * @param device number of the block device as the kernel writes it, such as {@code 8:17}; empty for a file
 */
record FileKind(Object key, String device) {
    private static final int TYPE = 0xf000;
    private static final int BLOCK_DEVICE = 0x6000;
    private static final int REGULAR = 0x8000;
    private static final Path SYS_BLOCK_DEVICES = Path.of("/sys/dev/block");
    private static final Path MOUNTS = Path.of("/proc/self/mountinfo");
    private static final Path SWAPS = Path.of("/proc/swaps");

    /**
     * Determines the kind of the file at the path.
     *
     * @throws IOException also if it is neither a file nor a block device
     */
    static FileKind of(Path file) throws IOException {
        Map<String, Object> found = Files.readAttributes(file, "unix:mode,rdev,fileKey");
        int type = ((Number) Objects.requireNonNull(found.get("mode"))).intValue() & TYPE;
        if (type == BLOCK_DEVICE) {
            long number = ((Number) Objects.requireNonNull(found.get("rdev"))).longValue();
            String name = number(number);
            return new FileKind("device " + name, name);
        }
        if (type != REGULAR) {
            throw new IOException(file
                    + (Files.isDirectory(file)
                            ? ": is a directory, but index_path is only for block devices and files"
                            : ": is not a directory, a regular file or a block device"));
        }
        return new FileKind(Objects.requireNonNull(found.get("fileKey")), "");
    }

    /**
     * Formats a device number as {@code major:minor}. The lowest 8 bits of Linux' {@code dev_t} are the low part of the
     * minor number. The next 12 bits are the low part of the major number, then follow the high parts of minor and
     * major.
     */
    static String number(long rdev) {
        long major = (rdev >>> 8 & 0xfff) | (rdev >>> 32 & 0xffff_f000L);
        long minor = (rdev & 0xff) | (rdev >>> 12 & 0xffff_ff00L);
        return major + ":" + minor;
    }

    boolean isDevice() {
        return !device.isEmpty();
    }

    /**
     * Throws an {@link IOException} if the device is in use. It is in use if it or one of its partitions is mounted,
     * used for swap, or part of another device. Also throws if the device is read-only. Has no effect for a regular
     * file.
     */
    void checkUnused(Path file) throws IOException {
        if (!isDevice()) {
            return;
        }
        Path sysDirectory = SYS_BLOCK_DEVICES.resolve(device);
        if (firstLine(sysDirectory.resolve("ro")).equals("1")) {
            throw new IOException(file + ": the device is read-only");
        }
        Set<String> numbers = numbers(file, sysDirectory);
        for (String mount : lines(MOUNTS)) {
            List<String> fields = List.of(mount.split(" ", 6));
            if (fields.size() > 4 && numbers.contains(fields.get(2))) {
                throw new IOException(file + ": the device or one of its partitions is mounted at " + fields.get(4));
            }
        }
        for (String swap : lines(SWAPS)) {
            Path path = Path.of(swap.split("\\s", 2)[0]);
            if (path.isAbsolute()
                    && Files.exists(path)
                    && !Files.isRegularFile(path)
                    && numbers.contains(of(path).device())) {
                throw new IOException(file + ": the device or one of its partitions is swap space");
            }
        }
    }

    /**
     * Returns the numbers of the device and of its partitions. Throws if another device (such as LVM or RAID) is built
     * on one of them.
     */
    private Set<String> numbers(Path file, Path sysDirectory) throws IOException {
        Set<String> numbers = new HashSet<>();
        numbers.add(device);
        if (!Files.isDirectory(sysDirectory)) {
            return numbers;
        }
        checkHolders(file, sysDirectory);
        try (DirectoryStream<Path> parts = Files.newDirectoryStream(sysDirectory)) {
            for (Path part : parts) {
                if (Files.isRegularFile(part.resolve("partition"))) {
                    numbers.add(firstLine(part.resolve("dev")));
                    checkHolders(file, part);
                }
            }
        }
        return numbers;
    }

    private static void checkHolders(Path file, Path sysDirectory) throws IOException {
        Path holders = sysDirectory.resolve("holders");
        if (!Files.isDirectory(holders)) {
            return;
        }
        try (DirectoryStream<Path> found = Files.newDirectoryStream(holders)) {
            for (Path holder : found) {
                throw new IOException(
                        file + ": the device or one of its partitions belongs to the device " + holder.getFileName());
            }
        }
    }

    private static String firstLine(Path path) throws IOException {
        List<String> lines = lines(path);
        return lines.isEmpty() ? "" : lines.get(0).trim();
    }

    private static List<String> lines(Path path) throws IOException {
        return Files.isReadable(path) ? Files.readAllLines(path, StandardCharsets.ISO_8859_1) : List.of();
    }
}
