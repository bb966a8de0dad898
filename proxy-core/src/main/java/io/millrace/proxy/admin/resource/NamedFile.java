package io.millrace.proxy.admin.resource;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Checks the name of a configuration file in a request. Clients on the Unix domain socket are users of this machine and
 * may name every file. Clients over TCP may name only files below the directory of the configuration. Thread-safe: no
 * state.
 */
public final class NamedFile {
    private NamedFile() {}

    /**
     * Returns the file that a request names. For a request over TCP it reads the file system, to resolve links.
     *
     * @param configuration the configuration file in use; null if there is none, in which case TCP requests cannot name
     *     a file
     * @throws AdminException if the path is not absolute, or may not be read over TCP. The error does not show whether
     *     the file exists
     */
    public static Path of(AdminRequest request, @Nullable String name, @Nullable Path configuration)
            throws AdminException {
        Path file = absolute(name == null ? "" : name);
        if (request.overTcp() && !isBelowDirectoryOf(file, configuration)) {
            Path directory = configuration == null
                    ? null
                    : configuration.toAbsolutePath().getParent();
            throw new AdminException(
                    403,
                    "file-refused",
                    "requests over TCP may name only files below the directory of the configuration file"
                            + (directory == null ? ", and there is no configuration file" : ", " + directory)
                            + "; use the Unix socket");
        }
        return file;
    }

    private static Path absolute(String name) throws AdminException {
        try {
            Path file = Path.of(name);
            if (file.isAbsolute()) {
                return file;
            }
        } catch (InvalidPathException e) {
            throw new AdminException(400, "bad-request", "the member 'file' is not a path: " + e.getReason());
        }
        throw new AdminException(400, "bad-request", "the member 'file' is needed: an absolute path");
    }

    /** Returns whether a file, after resolving links, is the configuration or is below its directory. */
    private static boolean isBelowDirectoryOf(Path file, @Nullable Path configuration) {
        if (configuration == null) {
            return false;
        }
        try {
            Path real = realPath(file);
            Path directory = configuration.toAbsolutePath().getParent();
            return (directory != null && real.startsWith(directory.toRealPath()))
                    || real.equals(configuration.toRealPath());
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Resolves links. For a missing file it resolves only the directory; the check of the configuration then reports
     * the missing file.
     */
    private static Path realPath(Path file) throws IOException {
        try {
            return file.toRealPath();
        } catch (IOException e) {
            Path parent = file.getParent();
            Path name = file.getFileName();
            if (parent == null || name == null) {
                throw e;
            }
            return parent.toRealPath().resolve(name);
        }
    }
}
