package io.millrace.store.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of {@link FileIo} with the file system of the operating system.
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
    public @Nullable Object identity(Path file) throws IOException {
        Path parent = file.getParent();
        if (parent != null && !Files.isDirectory(parent)) {
            throw new NoSuchFileException(file.toString());
        }
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
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
    public void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public void delete(Path file) throws IOException {
        Files.deleteIfExists(file);
    }

    @Override
    public Closeable lease(Path directory) throws IOException {
        return LockFileLease.acquire(directory);
    }

    @Override
    public LeasedFile openLeased(Path file) throws IOException {
        return LeasedChannel.open(file);
    }

    @Override
    public List<Path> list(Path directory, String prefix) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                if (entry.getFileName().toString().startsWith(prefix)) {
                    found.add(entry);
                }
            }
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return found;
    }

    @Override
    public HeldFile hold(Path file, byte[] content) throws IOException {
        return LockedFile.create(file, content);
    }

    @Override
    public byte @Nullable [] contentIfHeld(Path file) throws IOException {
        return LockedFile.contentIfHeld(file);
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
