package io.millrace.proxy.tls.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;

/** Writes files atomically, with permissions for the owner only. Thread-safe: no state. */
public final class PrivateFile {
    private PrivateFile() {}

    /**
     * Replaces a file: writes a temporary file in the same directory, then renames it. The temporary name begins
     * with a dot and ends with {@code .new}. The file has mode 0600, and a directory that this method creates has
     * mode 0700. Blocks until the content is on disk.
     *
     * @param file path of the file; must have a parent directory
     * @throws IOException if the content cannot be written; the old file is then unchanged
     */
    public static void replace(Path file, byte[] content) throws IOException {
        Path directory = Objects.requireNonNull(file.toAbsolutePath().getParent(), "directory");
        Files.createDirectories(directory, ownersOnly(directory));
        Path unfinished = Files.createTempFile(directory, ".", ".new");
        try {
            try (FileChannel channel = FileChannel.open(unfinished, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = ByteBuffer.wrap(content);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }

    private static FileAttribute<?>[] ownersOnly(Path directory) {
        return directory.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
                }
                : new FileAttribute<?>[0];
    }
}
