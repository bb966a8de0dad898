package io.millrace.cli.command;

import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The environment of a command: variables, directories, terminal and input of its process. Immutable.
 *
 * @param variables the environment variables
 * @param userHome home directory of the user
 * @param runDirectory directory with the admin socket of the systemd service, such as {@code /run/millrace}
 * @param productHome directory of the unpacked product, with {@code bin/} and {@code lib/}; null if it is not known
 * @param isTerminal whether standard output is a terminal
 * @param input standard input
 */
public record ProcessEnvironment(
        Map<String, String> variables,
        Path userHome,
        Path runDirectory,
        @Nullable Path productHome,
        boolean isTerminal,
        InputStream input) {
    /** Creates an environment with empty standard input. */
    public ProcessEnvironment(
            Map<String, String> variables,
            Path userHome,
            Path runDirectory,
            @Nullable Path productHome,
            boolean isTerminal) {
        this(variables, userHome, runDirectory, productHome, isTerminal, InputStream.nullInputStream());
    }

    /** Returns the environment of this process. */
    public static ProcessEnvironment ofProcess() {
        return new ProcessEnvironment(
                System.getenv(),
                userHome(System.getenv()),
                Path.of("/run/millrace"),
                productHomeOfProcess(),
                picocli.CommandLine.Help.Ansi.AUTO.enabled(),
                System.in);
    }

    /**
     * Returns the home directory of the user: the value of the variable {@code HOME}, which shells also use for
     * {@code ~}. If the variable is not set, returns the directory in the system's user database. The launcher (the
     * process that {@code bin/millrace} starts) has the same rule for its state directory.
     */
    static Path userHome(Map<String, String> variables) {
        String home = variables.get("HOME");
        return Path.of(home != null && home.startsWith("/") ? home : System.getProperty("user.home", "/"));
    }

    private static @Nullable Path productHomeOfProcess() {
        String home = System.getProperty("millrace.home");
        if (home != null && !home.isEmpty()) {
            return Path.of(home);
        }
        try {
            CodeSource source = ProcessEnvironment.class.getProtectionDomain().getCodeSource();
            Path jar = source == null ? null : Path.of(source.getLocation().toURI());
            Path lib = jar == null ? null : jar.getParent();
            return lib == null ? null : lib.getParent();
        } catch (URISyntaxException | RuntimeException e) {
            return null;
        }
    }

    /** Returns the value of a variable; null if it is not set or empty. */
    @Nullable
    public String variable(String name) {
        String value = variables.get(name);
        return value == null || value.isEmpty() ? null : value;
    }

    /**
     * Returns the parent of the state directories. The launcher creates a state directory for each instance, named
     * after the first port.
     */
    public Path stateHome() {
        String base = variable("XDG_STATE_HOME");
        Path states = base != null && base.startsWith("/") ? Path.of(base) : userHome.resolve(".local/state");
        return states.resolve("millrace");
    }

    /** Returns the script {@code bin/millrace}, which starts the launcher; null if it does not exist. */
    @Nullable
    public Path millrace() {
        if (productHome == null) {
            return null;
        }
        Path script = productHome.resolve("bin").resolve("millrace");
        return Files.isExecutable(script) ? script : null;
    }
}
