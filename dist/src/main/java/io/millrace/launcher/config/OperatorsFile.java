package io.millrace.launcher.config;

import io.millrace.launcher.exit.FileFailure;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.yaml.ConfigEdit;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The operator's configuration file while a setting is written into it: it is replaced as a whole, keeps owner, mode, access list
 * and extended attributes, and is left alone when it is not what was loaded. What it throws says why, and can be shown to the operator. Confined to
 * one thread.
 */
final class OperatorsFile implements AutoCloseable {
    private final Path file;
    private final ConfigDocument loaded;
    private final String instance;
    private final DirectorySync sync;
    private byte[] edited = new byte[0];
    private @Nullable Path unfinished;

    private OperatorsFile(Path file, ConfigDocument loaded, String instance, DirectorySync sync) {
        this.sync = sync;
        this.file = file;
        this.loaded = loaded;
        this.instance = instance;
    }

    /**
     * Refuses when the file is not what runs, or does not decide about {@code keys}.
     *
     * @param instance a word for this launcher: another one may have the same file, and write beside it at the same time
     */
    static OperatorsFile open(ConfigReader reader, RunningConfig.Current running, Set<String> keys, String instance)
            throws IOException {
        return open(reader, running, keys, instance, OperatorsFile::force);
    }

    static OperatorsFile open(
            ConfigReader reader, RunningConfig.Current running, Set<String> keys, String instance, DirectorySync sync)
            throws IOException {
        Path named = reader.file();
        if (named == null) {
            throw new IOException("there is no file: options say what to serve");
        }
        if (running.rolledBackTo() > 0) {
            throw new IOException("configuration " + running.rolledBackTo()
                    + " of the history runs, and not the file: reload first, or make it the file");
        }
        for (String key : keys) {
            if (running.source().overrides().containsKey(key)) {
                throw new IOException(key + " is set on the command line, which wins over the file");
            }
        }
        // A link stays one: what it leads to is replaced.
        Path file = named.toRealPath();
        OperatorsFile opened = new OperatorsFile(file, running.source().document(), instance, sync);
        opened.checkUnchanged();
        Object names = Files.getAttribute(file, "unix:nlink");
        if (names instanceof Integer count && count > 1) {
            throw new IOException(file + " has " + count + " names (hard links), of which one would be replaced");
        }
        return opened;
    }

    private void checkUnchanged() throws IOException {
        byte[] loadedBytes = loaded.text().getBytes(StandardCharsets.UTF_8);
        if (!Arrays.equals(loadedBytes, Files.readAllBytes(file))) {
            throw new IOException(file + " has changed since it was loaded; reload first");
        }
    }

    Path path() {
        return file;
    }

    /** The file with other values, and what it includes. */
    ConfigDocument edit(Map<String, String> settings) throws IOException {
        String text = loaded.text();
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            ConfigEdit edit = ConfigEdit.of(text, loaded.name(), setting.getKey(), setting.getValue());
            if (edit.text() == null) {
                throw new IOException(edit.obstacle());
            }
            text = edit.text();
        }
        edited = text.getBytes(StandardCharsets.UTF_8);
        return new ConfigDocument(loaded.name(), loaded.directory(), text, loaded.included());
    }

    /** Writes what {@link #edit} made beside the file, into a copy of it with all that the file system keeps of it. */
    void prepare() throws IOException {
        Path beside = file.resolveSibling("." + file.getFileName() + "." + instance + ".millrace-new");
        PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
        Files.deleteIfExists(beside);
        try {
            unfinished = beside;
            // Extended attributes and the access list, which has no other way in Java, go along with a copy.
            Files.copy(file, beside, StandardCopyOption.COPY_ATTRIBUTES);
            PosixFileAttributeView view = Files.getFileAttributeView(beside, PosixFileAttributeView.class);
            view.setPermissions(PosixFilePermissions.fromString("rw-------"));
            write(beside);
            keep(attributes, view);
        } catch (IOException e) {
            throw new IOException(
                    file + " cannot be replaced by a file of the same owner and mode: " + FileFailure.text(beside, e),
                    e);
        }
        checkAttributes(beside);
    }

    private void write(Path beside) throws IOException {
        try (FileChannel channel = FileChannel.open(
                beside, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING, LinkOption.NOFOLLOW_LINKS)) {
            ByteBuffer bytes = ByteBuffer.wrap(edited);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
    }

    private static void keep(PosixFileAttributes attributes, PosixFileAttributeView view) throws IOException {
        PosixFileAttributes own = view.readAttributes();
        if (!own.owner().equals(attributes.owner())) {
            view.setOwner(attributes.owner());
        }
        if (!own.group().equals(attributes.group())) {
            view.setGroup(attributes.group());
        }
        view.setPermissions(attributes.permissions());
    }

    /** A copy leaves out silently what it cannot take along. */
    private void checkAttributes(Path beside) throws IOException {
        Map<String, ByteBuffer> wanted = userAttributes(file);
        Map<String, ByteBuffer> kept = userAttributes(beside);
        for (Map.Entry<String, ByteBuffer> attribute : wanted.entrySet()) {
            if (!attribute.getValue().equals(kept.get(attribute.getKey()))) {
                throw new IOException(file + " cannot be replaced by a file with its attribute user."
                        + attribute.getKey() + "; remove that, or edit the file");
            }
        }
    }

    /** Empty where the file system has none. */
    private static Map<String, ByteBuffer> userAttributes(Path of) {
        Map<String, ByteBuffer> values = new HashMap<>();
        UserDefinedFileAttributeView view = Files.getFileAttributeView(of, UserDefinedFileAttributeView.class);
        if (view == null) {
            return values;
        }
        try {
            for (String name : view.list()) {
                ByteBuffer value = ByteBuffer.allocate(view.size(name));
                view.read(name, value);
                values.put(name, value.flip());
            }
        } catch (IOException e) {
            return values;
        }
        return values;
    }

    /** Makes sure that a directory's names outlive a power failure. */
    interface DirectorySync {
        void force(Path directory) throws IOException;
    }

    /**
     * Puts it in place of the file.
     *
     * @return what is not certain of it, though the file is replaced; null when nothing is left to be said
     */
    @Nullable
    String replace() throws IOException {
        Path beside = unfinished;
        if (beside == null) {
            throw new IllegalStateException("not prepared");
        }
        checkUnchanged();
        Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        unfinished = null;
        Path directory = file.toAbsolutePath().getParent();
        if (directory == null) {
            return null;
        }
        try {
            sync.force(directory);
            return null;
        } catch (IOException e) {
            return "after a power failure the file may be the one before, since its directory cannot be written through: "
                    + FileFailure.text(directory, e);
        }
    }

    private static void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    @Override
    public void close() throws IOException {
        if (unfinished != null) {
            Files.deleteIfExists(unfinished);
        }
    }
}
