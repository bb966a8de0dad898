package io.millrace.store.disk;

import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The content of the file {@value #FILE_NAME} in the index directory of a block device or file.
 *
 * <p>The file names the device. It also records whether the setting {@code format}, the permission to overwrite other
 * content on the device, was used.
 *
 * <pre>
 * the device's path
 * format used|format not used
 * </pre>
 *
 * <p>Immutable.
 *
 * @param device the device
 * @param formatUsed true if {@code format} was used; the setting is then ignored until it is removed from the
 *     configuration
 */
public record DeviceNote(Path device, boolean formatUsed) {
    /** Name of the file. */
    public static final String FILE_NAME = "device";

    private static final int LENGTH_MAX = 8192;
    private static final String USED = "format used";
    private static final String NOT_USED = "format not used";

    /** Reads the file in {@code directory}. Returns null if the directory belongs to no device. */
    public static @Nullable DeviceNote read(FileIo io, Path directory) throws IOException {
        Path path = directory.resolve(FILE_NAME);
        if (!io.exists(path)) {
            return null;
        }
        try (StoreFile file = io.openForReading(path)) {
            ByteBuffer in = ByteBuffer.allocate((int) Math.min(file.length(), LENGTH_MAX));
            file.read(in, 0);
            String text = new String(in.array(), 0, in.position(), StandardCharsets.UTF_8);
            int end = text.indexOf('\n');
            // A partly written file names no device and grants no permission to overwrite.
            return end < 0
                    ? new DeviceNote(Path.of(""), true)
                    : new DeviceNote(
                            Path.of(text.substring(0, end)),
                            !text.substring(end + 1).startsWith(NOT_USED));
        }
    }

    /** Writes the file and forces it to the device. */
    public void write(FileIo io, Path directory) throws IOException {
        byte[] text = (device + "\n" + (formatUsed ? USED : NOT_USED) + "\n").getBytes(StandardCharsets.UTF_8);
        try (StoreFile file = io.open(directory.resolve(FILE_NAME))) {
            file.resize(text.length);
            file.write(ByteBuffer.wrap(text), 0);
            file.force();
        }
    }
}
