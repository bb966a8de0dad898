package io.millrace.proxy.admin.resource;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A file that a request names, to be read as a configuration. Who may use the Unix domain socket has users' rights on this machine; who
 * comes over TCP has a token, and is shown nothing of files that do not lie with the configuration. No state.
 */
public final class NamedFile {
    private NamedFile() {}

    /**
     * The file that {@code name} says. Looks at the file system where the request came over TCP.
     *
     * @param configuration the file that runs; null where options say what runs, and nothing can be named over TCP
     * @throws AdminException if it is no absolute path, or one that may not be read over TCP, whether there is such a file or not
     */
    public static Path of(AdminRequest request, @Nullable String name, @Nullable Path configuration)
            throws AdminException {
        Path file = absolute(name == null ? "" : name);
        if (request.overTcp() && !liesWith(file, configuration)) {
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

    /** Whether {@code file}, with all links followed, is the configuration or lies below its directory. */
    private static boolean liesWith(Path file, @Nullable Path configuration) {
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

    /** Of a file that is not there, whose absence is for the check to say, where it would be. */
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
