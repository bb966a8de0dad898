package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * The file system of the machine.
 *
 * <p>Thread-safe.
 */
public final class SystemFileIo implements FileIo {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    @Override
    public StoreFile open(Path file) throws IOException {
        return new ChannelFile(
                file,
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE));
    }

    @Override
    public StoreFile openForReading(Path file) throws IOException {
        return new ChannelFile(file, FileChannel.open(file, StandardOpenOption.READ));
    }

    @Override
    public boolean exists(Path path) {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
    }

    @Override
    public void createDirectories(Path directory) throws IOException {
        Files.createDirectories(directory);
    }

    @Override
    public void rename(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void delete(Path file) throws IOException {
        Files.deleteIfExists(file);
    }

    @Override
    public Closeable lease(Path directory) throws IOException {
        return LockFileLease.take(directory);
    }

    @Override
    public String bootId() {
        try {
            return Files.readString(BOOT_ID, StandardCharsets.US_ASCII).trim();
        } catch (IOException e) {
            return "";
        }
    }
}
