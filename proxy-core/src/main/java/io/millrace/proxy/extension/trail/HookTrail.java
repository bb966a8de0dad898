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
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A mapped file that has the hooks in progress of a process. After its end, for example without free memory, another
 * process reads which extensions may be the reason. The kernel keeps the writes of a process that was killed.
 *
 * <pre>
 *   0      length of the names in bytes, as int; then the names in UTF-8:
 *          those of the hooks, separated by commas, a line feed, those of the extensions
 *   65536  an int for each thread: 0 outside of hooks, otherwise (extension + 1) * 256 + hook
 * </pre>
 *
 * <p>Thread-safe; each slot is written by one thread.
 */
public final class HookTrail {
    private static final int SLOTS_OFFSET = 64 * 1024;

    /** Limit of threads; hooks of further threads are not noted. */
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
     * Creates the file, in place of an earlier one.
     *
     * @param hooks names of the hooks; their indices are the arguments of {@link #begin}
     * @param extensions names of the extensions, likewise
     */
    public static HookTrail create(Path file, List<String> hooks, List<String> extensions) throws IOException {
        byte[] names = (String.join(",", hooks) + "\n" + String.join(",", extensions)).getBytes(StandardCharsets.UTF_8);
        if (names.length > SLOTS_OFFSET - Integer.BYTES) {
            throw new IOException("names of extensions in bytes: actual=" + names.length + ", limit=" + SLOTS_OFFSET);
        }
        Files.deleteIfExists(file);
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer map = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
            map.order(ByteOrder.nativeOrder());
            map.putInt(0, names.length);
            map.put(Integer.BYTES, names);
            return new HookTrail(map);
        }
    }

    /** Returns the slot of a new thread; -1 if there are too many. */
    public int newSlot() {
        int slot = slots.getAndIncrement();
        return slot < SLOTS_MAX ? slot : -1;
    }

    /** Notes that the thread of a slot calls a hook. */
    public void begin(int slot, int extension, int hook) {
        if (slot >= 0) {
            map.putInt(SLOTS_OFFSET + slot * Integer.BYTES, ((extension + 1) << HOOK_BITS) | hook);
        }
    }

    /** Notes that the call of a hook has ended. */
    public void end(int slot) {
        if (slot >= 0) {
            map.putInt(SLOTS_OFFSET + slot * Integer.BYTES, 0);
        }
    }

    /**
     * Returns the hooks that a process was running at its end, such as {@code hook deliver of extension ab}; empty if
     * there is no file, or it is not complete. Blocks.
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
