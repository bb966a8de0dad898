package io.millrace.proxy.config.check;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Determines whether a file system permits direct writes (O_DIRECT), with an empty temporary file. It does not open the
 * files of a store: to close one of them would release the store's lock. Stateless.
 */
final class DirectWriteProbe {
    private DirectWriteProbe() {}

    /**
     * Returns the type of the file system that will contain the path, such as tmpfs, if it refuses direct writes. Null
     * if it permits them or if no file can be created there; other checks report that.
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
