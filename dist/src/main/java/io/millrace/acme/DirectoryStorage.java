package io.millrace.acme;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The ACME storage in a directory. Leases are kernel file locks, which end with the process. */
final class DirectoryStorage implements AcmeStorage {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryStorage.class);
    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY_DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final List<String> DIRECTORIES = List.of(
            "accounts", "certificates", "challenges/http-01", "challenges/tls-alpn-01", "records", "requests", "locks");

    /** Age at which a response to a challenge is deleted. */
    private static final Duration CHALLENGE_AGE_MAX = Duration.ofDays(1);

    private final Path root;

    private DirectoryStorage(Path root) {
        this.root = root;
    }

    /** Opens the storage, and creates missing directories. */
    static DirectoryStorage open(Path root) throws IOException {
        makeDirectories(root);
        DirectoryStorage storage = new DirectoryStorage(root);
        storage.deleteOld("challenges/http-01");
        storage.deleteOld("challenges/tls-alpn-01");
        return storage;
    }

    /** Deletes responses to challenges that a killed launcher has left. */
    private void deleteOld(String directory) throws IOException {
        Instant old = Instant.now().minus(CHALLENGE_AGE_MAX);
        for (String name : list(directory)) {
            Path each = file(directory + "/" + name);
            if (Files.getLastModifiedTime(each).toInstant().isBefore(old)) {
                Files.deleteIfExists(each);
            }
        }
    }

    private static void makeDirectories(Path root) throws IOException {
        for (String each : DIRECTORIES) {
            Files.createDirectories(root.resolve(each), OWNER_ONLY_DIRECTORY);
        }
    }

    /**
     * Resolves a path in the storage. Issuers and clients supply parts of it, so a path that leads elsewhere is
     * rejected.
     */
    private Path file(String path) throws IOException {
        for (String part : path.split("/", -1)) {
            if (part.isEmpty() || part.startsWith(".") || part.indexOf('\0') >= 0) {
                throw new IOException("'" + path + "' is not a path in tls.acme.storage");
            }
        }
        return root.resolve(path);
    }

    @Override
    public void put(String path, String content) throws IOException {
        Path file = file(path);
        // The certificate store ignores names with a leading dot.
        Path unfinished = file.resolveSibling("." + file.getFileName() + ".new");
        Files.deleteIfExists(unfinished);
        try {
            try (FileChannel channel = FileChannel.open(
                    unfinished, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), OWNER_ONLY_FILE)) {
                ByteBuffer bytes = ByteBuffer.wrap(content.getBytes(StandardCharsets.UTF_8));
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

    @Override
    public Optional<String> get(String path) throws IOException {
        try {
            return Optional.of(Files.readString(file(path)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    @Override
    public void delete(String path) throws IOException {
        Files.deleteIfExists(file(path));
    }

    @Override
    public List<String> list(String directory) throws IOException {
        try (Stream<Path> entries = Files.list(file(directory))) {
            return entries.map(entry -> String.valueOf(entry.getFileName()))
                    .filter(name -> !name.startsWith("."))
                    .sorted()
                    .toList();
        }
    }

    @Override
    public Optional<Lease> lease(String name) throws IOException {
        Path file = file("locks/" + name + ".lock");
        // Subdirectories that were deleted at run time are created again. A missing storage directory is not created.
        if (Files.isDirectory(root)) {
            makeDirectories(root);
        }
        FileChannel channel =
                FileChannel.open(file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE), OWNER_ONLY_FILE);
        try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return Optional.of(() -> close(channel));
            }
        } catch (OverlappingFileLockException e) {
            // Another thread of this process holds the lock.
        } catch (IOException e) {
            close(channel);
            throw e;
        }
        close(channel);
        return Optional.empty();
    }

    private static void close(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.warn("ACME: a lock file cannot be closed: {}", e.toString());
        }
    }
}
