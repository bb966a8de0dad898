package io.millrace.launcher.state;

import io.millrace.launcher.exit.FileFailure;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.check.FilePermissionChecks;
import io.millrace.proxy.config.value.FileMode;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.control.DefaultPaths;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directories of a running proxy that apply where the configuration sets no path. Immutable.
 *
 * @param state directory of the lock and of files that survive restarts
 * @param cache directory of the cache
 * @param log directory of the access log and of crash reports
 * @param runtime directory of the admin socket, and of {@code run/} (mode 0700) with the sockets between launcher and
 *     worker
 */
public record StateDirectory(Path state, Path cache, Path log, Path runtime) {
    private static final Logger LOG = LoggerFactory.getLogger(StateDirectory.class);

    /** Limit of a socket path: sun_path is 108 bytes long, and its last byte is zero. */
    private static final int SOCKET_PATH_LENGTH_MAX = 107;

    /**
     * Selects the directories. The option {@code --state} takes precedence over the directories that systemd has
     * created for the service. Without both, the directory is {@code millrace/<first port>} below {@code
     * XDG_STATE_HOME}, or below {@code ~/.local/state} if that variable is not set.
     */
    public static StateDirectory resolve(
            @Nullable Path option, Map<String, String> environment, Path home, int firstPort) {
        @Nullable Path ofService = systemd(environment, "STATE_DIRECTORY");
        if (option == null && ofService != null) {
            return new StateDirectory(
                    ofService,
                    orElse(systemd(environment, "CACHE_DIRECTORY"), ofService.resolve("cache")),
                    orElse(systemd(environment, "LOGS_DIRECTORY"), ofService.resolve("log")),
                    orElse(systemd(environment, "RUNTIME_DIRECTORY"), ofService));
        }
        Path state;
        if (option != null) {
            state = option.toAbsolutePath().normalize();
        } else {
            state = parent(environment, home).resolve(Integer.toString(firstPort));
        }
        return new StateDirectory(state, state.resolve("cache"), state.resolve("log"), state);
    }

    /**
     * Returns the home directory of the user: {@code HOME}, as shells expand {@code ~}. Without it, returns the
     * directory in the system's user database.
     */
    public static Path home(Map<String, String> environment) {
        @Nullable String home = environment.get("HOME");
        return Path.of(home != null && home.startsWith("/") ? home : System.getProperty("user.home", ""));
    }

    /** Returns the parent of the user's state directories, in which {@code millctl} searches for admin sockets. */
    public static Path parent(Map<String, String> environment, Path home) {
        @Nullable String base = environment.get("XDG_STATE_HOME");
        Path states = base != null && base.startsWith("/") ? Path.of(base) : home.resolve(".local/state");
        return states.resolve("millrace");
    }

    /**
     * Returns the first of the colon-separated directories in an environment variable. Returns null if it is not set.
     */
    private static @Nullable Path systemd(Map<String, String> environment, String variable) {
        @Nullable String value = environment.get(variable);
        if (value == null || !value.startsWith("/")) {
            return null;
        }
        int colon = value.indexOf(':');
        return Path.of(colon < 0 ? value : value.substring(0, colon));
    }

    private static Path orElse(@Nullable Path path, Path otherwise) {
        return path == null ? otherwise : path;
    }

    /** The file that {@link InstanceLock} locks. */
    public Path lock() {
        return state.resolve("launcher.lock");
    }

    /** Creates a directory and its parents with {@code mode}, regardless of the umask of the process. */
    private static void create(Path directory, FileMode mode) throws IOException {
        if (Files.isDirectory(directory)) {
            String problem = FilePermissionChecks.modeProblem(directory, mode);
            if (problem != null) {
                LOG.warn("{}", problem);
            }
            return;
        }
        if (!isPosix()) {
            Files.createDirectories(directory);
            return;
        }
        Path parent = directory.toAbsolutePath().getParent();
        if (parent != null && !Files.isDirectory(parent)) {
            create(parent, mode);
        }
        Set<PosixFilePermission> permissions = permissions(mode.directoryBits());
        Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(permissions));
        Files.setPosixFilePermissions(directory, permissions);
    }

    /**
     * Restricts the permissions of a file or socket to this user. Until then, the mode of its directory protects the
     * file.
     */
    public static void restrict(Path file) throws IOException {
        if (isPosix()) {
            Files.setPosixFilePermissions(file, permissions(0600));
        }
    }

    private static boolean isPosix() {
        return FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    }

    /** Converts the nine permission bits of chmod(1) to a set. */
    private static Set<PosixFilePermission> permissions(int bits) {
        PosixFilePermission[] all = PosixFilePermission.values();
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (int i = 0; i < all.length; i++) {
            if (((bits >> (all.length - 1 - i)) & 1) != 0) {
                permissions.add(all[i]);
            }
        }
        return permissions;
    }

    /** The admin socket, unless {@code admin.socket} sets another path. */
    public Path adminSocket() {
        return runtime.resolve("admin.sock");
    }

    /** The default directories in the format that the worker expects. */
    public DefaultPaths defaultPaths() {
        return new DefaultPaths(state, cache, log);
    }

    /** Paths of the sockets between launcher and workers. */
    public ControlPaths control() {
        return new ControlPaths(runtime.resolve("run"));
    }

    /**
     * Creates missing directories with {@code mode}. Only this user can access the directory of the sockets between
     * launcher and worker.
     */
    public void create(FileMode mode) throws IOException, LaunchException {
        Path longest = control().descriptors();
        int length = longest.toString().getBytes(StandardCharsets.UTF_8).length;
        if (length > SOCKET_PATH_LENGTH_MAX) {
            throw new LaunchException(
                    "the state directory's path is too long for a Unix socket: " + longest + " (actual=" + length
                            + " bytes, limit=" + SOCKET_PATH_LENGTH_MAX + "); choose a shorter path with --state");
        }
        if (!state.isAbsolute()) {
            throw new LaunchException(
                    "this user has no home directory for the state directory; name a directory with --state DIR");
        }
        for (Path directory : List.of(state, cache, log, runtime)) {
            make(directory, mode);
        }
        Path sockets = control().directory();
        make(sockets, mode);
        if (isPosix()) {
            Files.setPosixFilePermissions(sockets, PosixFilePermissions.fromString("rwx------"));
        }
    }

    private static void make(Path directory, FileMode mode) throws LaunchException {
        try {
            create(directory, mode);
        } catch (IOException e) {
            String why = Files.exists(directory) && !Files.isDirectory(directory)
                    ? directory + ": is not a directory"
                    : FileFailure.text(directory, e);
            throw new LaunchException("the state directory " + directory + " cannot be created: " + why
                    + "; choose another directory with --state DIR");
        }
    }
}
