package io.millrace.proxy.extension.trail;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A memory-mapped file that records which hooks a process is running. After that process has died, for example because
 * it ran out of memory, another process reads from the file which extensions may be the cause. The kernel keeps the
 * writes even of a process that was killed.
 *
 * <pre>
 *   0      length of the names in bytes, as int; then the names in UTF-8:
 *          hook names separated by commas, a line feed, extension names separated by commas
 *   65536  an int for each thread: 0 outside of hooks, otherwise (extension + 1) * 256 + hook
 * </pre>
 *
 * <p>Thread-safe; each slot is written by one thread.
 */
public final class HookTrail {
    private static final int SLOTS_OFFSET = 64 * 1024;

    /** A directory in memory that every user may write to. */
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    /**
     * Types of file systems in memory. With a file on a disk, write-back could delay a hook, and a full disk could make
     * it fail.
     */
    private static final Set<String> MEMORY_TYPES = Set.of("tmpfs", "ramfs");

    /** Limit of threads; hooks of further threads are not recorded. */
    private static final int SLOTS_MAX = 1024;

    private static final int BYTES = SLOTS_OFFSET + SLOTS_MAX * Integer.BYTES;
    private static final int HOOK_BITS = 8;
    private static final int HOOK_MASK = (1 << HOOK_BITS) - 1;

    private final MappedByteBuffer map;
    private final AtomicInteger slots = new AtomicInteger();

    private HookTrail(MappedByteBuffer map) {
        this.map = map;
    }

    /**
     * Creates the file, and replaces an earlier one. Writes the complete file, so that a lack of space is an error now
     * and not at a later write to the mapping. If the directory is on a disk, the file becomes a symbolic link to a
     * file in memory.
     *
     * @param hooks names of the hooks; their indices are the arguments of {@link #begin}
     * @param extensions names of the extensions; their indices are also arguments of {@link #begin}
     */
    public static HookTrail create(Path file, List<String> hooks, List<String> extensions) throws IOException {
        byte[] names = (String.join(",", hooks) + "\n" + String.join(",", extensions)).getBytes(StandardCharsets.UTF_8);
        if (names.length > SLOTS_OFFSET - Integer.BYTES) {
            throw new IOException("names of extensions in bytes: actual=" + names.length + ", limit="
                    + (SLOTS_OFFSET - Integer.BYTES));
        }
        delete(file);
        Path directory = file.toAbsolutePath().getParent();
        if (directory != null && isInMemory(directory)) {
            Files.createFile(file);
            return map(file, names);
        }
        if (!isInMemory(SHARED_MEMORY)) {
            throw new IOException("the file needs a tmpfs or ramfs in its directory or in " + SHARED_MEMORY);
        }
        Path place = Files.createTempFile(SHARED_MEMORY, "millrace-", ".hooks");
        try {
            HookTrail trail = map(place, names);
            Files.createSymbolicLink(file, place);
            return trail;
        } catch (IOException e) {
            Files.deleteIfExists(place);
            throw e;
        }
    }

    private static HookTrail map(Path file, byte[] names) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer content = ByteBuffer.allocate(BYTES).order(ByteOrder.nativeOrder());
            content.putInt(0, names.length).put(Integer.BYTES, names);
            while (content.hasRemaining()) {
                channel.write(content);
            }
            MappedByteBuffer map = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
            map.order(ByteOrder.nativeOrder());
            return new HookTrail(map);
        }
    }

    /** Returns the slot of a new thread; -1 if there are too many. */
    public int newSlot() {
        int slot = slots.getAndIncrement();
        return slot < SLOTS_MAX ? slot : -1;
    }

    /** Records that the thread of a slot calls a hook. */
    public void begin(int slot, int extension, int hook) {
        put(slot, ((extension + 1) << HOOK_BITS) | hook);
    }

    /** Records that the call of a hook has ended. */
    public void end(int slot) {
        put(slot, 0);
    }

    private void put(int slot, int value) {
        if (slot >= 0) {
            map.putInt(SLOTS_OFFSET + slot * Integer.BYTES, value);
        }
    }

    /** Deletes the file. Does nothing if it is missing. */
    public static void delete(Path file) throws IOException {
        if (Files.isSymbolicLink(file)) {
            Path target = Files.readSymbolicLink(file);
            if (target.startsWith(SHARED_MEMORY)) {
                Files.deleteIfExists(target);
            }
        }
        Files.deleteIfExists(file);
    }

    private static boolean isInMemory(Path directory) throws IOException {
        return Files.isDirectory(directory)
                && MEMORY_TYPES.contains(Files.getFileStore(directory).type());
    }

    /**
     * Returns the hooks that a process was running when it ended, such as {@code hook deliver of extension ab}. Empty
     * if the file is missing or incomplete. Blocks.
     */
    public static List<String> read(Path file) throws IOException {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            return List.of();
        }
        ByteBuffer content = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        if (bytes.length != BYTES || content.getInt(0) < 1 || content.getInt(0) > SLOTS_OFFSET - Integer.BYTES) {
            return List.of();
        }
        String[] names = new String(bytes, Integer.BYTES, content.getInt(0), StandardCharsets.UTF_8).split("\n", -1);
        if (names.length != 2) {
            return List.of();
        }
        List<String> hooks = List.of(names[0].split(",", -1));
        List<String> extensions = List.of(names[1].split(",", -1));
        List<String> running = new ArrayList<>();
        for (int slot = 0; slot < SLOTS_MAX; slot++) {
            int value = content.getInt(SLOTS_OFFSET + slot * Integer.BYTES);
            int extension = (value >>> HOOK_BITS) - 1;
            int hook = value & HOOK_MASK;
            if (extension >= 0 && extension < extensions.size() && hook < hooks.size()) {
                String text = "hook " + hooks.get(hook) + " of extension " + extensions.get(extension);
                if (!running.contains(text)) {
                    running.add(text);
                }
            }
        }
        return List.copyOf(running);
    }
}
