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
 * A change of settings in the operator's configuration file. The file is replaced atomically by an edited copy with the
 * same owner, mode, access control list and extended attributes. A file that was edited since it was loaded is not
 * replaced. Exceptions have messages for the operator. Not thread-safe.
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
     * Opens the file for a change. Fails if the file is not the configuration in force, or if {@code keys} are set on
     * the command line.
     *
     * @param instance identifier of this launcher, part of the name of the temporary copy. Another launcher with the
     *     same file may write its own copy at the same time
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
            throw new IOException("the proxy was started without a configuration file, so there is no file to change");
        }
        if (running.rolledBackTo() > 0) {
            throw new IOException(
                    "configuration " + running.rolledBackTo()
                            + " of the history is in use instead of the file: reload the file first, or copy that configuration into the file");
        }
        for (String key : keys) {
            if (running.source().overrides().containsKey(key)) {
                throw new IOException(key + " is set on the command line, which overrides the file");
            }
        }
        // If the name is a symbolic link, the target of the link is replaced, not the link.
        Path file = named.toRealPath();
        OperatorsFile opened = new OperatorsFile(file, running.source().document(), instance, sync);
        opened.checkUnchanged();
        Object linkCount = Files.getAttribute(file, "unix:nlink");
        if (linkCount instanceof Integer count && count > 1) {
            throw new IOException(file + " has " + count
                    + " hard links, and only one of them would be replaced; edit the file by hand");
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

    /** Returns the file with changed values, together with the files that it includes. */
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

    /**
     * Writes the result of {@link #edit} into a temporary copy in the same directory. The copy gets the attributes of
     * the file.
     */
    void prepare() throws IOException {
        Path copy = file.resolveSibling("." + file.getFileName() + "." + instance + ".millrace-new");
        PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
        Files.deleteIfExists(copy);
        try {
            unfinished = copy;
            // The file is copied first, since Java can preserve the access control list only by copying.
            Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
            PosixFileAttributeView view = Files.getFileAttributeView(copy, PosixFileAttributeView.class);
            view.setPermissions(PosixFilePermissions.fromString("rw-------"));
            write(copy);
            restoreAttributes(attributes, view);
        } catch (IOException e) {
            throw new IOException(
                    file + " cannot be replaced by a new file with the same owner and mode: "
                            + FileFailure.text(copy, e),
                    e);
        }
        checkAttributes(copy);
    }

    private void write(Path copy) throws IOException {
        try (FileChannel channel = FileChannel.open(
                copy, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING, LinkOption.NOFOLLOW_LINKS)) {
            ByteBuffer bytes = ByteBuffer.wrap(edited);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
    }

    private static void restoreAttributes(PosixFileAttributes attributes, PosixFileAttributeView view)
            throws IOException {
        PosixFileAttributes copyAttributes = view.readAttributes();
        if (!copyAttributes.owner().equals(attributes.owner())) {
            view.setOwner(attributes.owner());
        }
        if (!copyAttributes.group().equals(attributes.group())) {
            view.setGroup(attributes.group());
        }
        view.setPermissions(attributes.permissions());
    }

    /** Checks that the copy has the extended attributes of the file. Files.copy drops those that it cannot set. */
    private void checkAttributes(Path copy) throws IOException {
        Map<String, ByteBuffer> ofFile = userAttributes(file);
        Map<String, ByteBuffer> ofCopy = userAttributes(copy);
        for (Map.Entry<String, ByteBuffer> attribute : ofFile.entrySet()) {
            if (!attribute.getValue().equals(ofCopy.get(attribute.getKey()))) {
                throw new IOException(
                        file + " cannot be replaced, because its extended attribute cannot be copied: user."
                                + attribute.getKey() + "; remove the attribute, or edit the file by hand");
            }
        }
    }

    /** The extended attributes in the user namespace; empty if the file system supports none. */
    private static Map<String, ByteBuffer> userAttributes(Path path) {
        Map<String, ByteBuffer> values = new HashMap<>();
        UserDefinedFileAttributeView view = Files.getFileAttributeView(path, UserDefinedFileAttributeView.class);
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

    /** Forces the entries of a directory to disk, so that they survive a power failure. */
    interface DirectorySync {
        void force(Path directory) throws IOException;
    }

    /**
     * Renames the temporary copy to the file.
     *
     * @return a warning if the rename may not survive a power failure; null if it does
     */
    @Nullable
    String replace() throws IOException {
        Path copy = unfinished;
        if (copy == null) {
            throw new IllegalStateException("the copy of the file is not prepared");
        }
        checkUnchanged();
        Files.move(copy, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        unfinished = null;
        Path directory = file.toAbsolutePath().getParent();
        if (directory == null) {
            return null;
        }
        try {
            sync.force(directory);
            return null;
        } catch (IOException e) {
            return "the directory of the file could not be synced to disk, so a power failure may restore the old file: "
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
