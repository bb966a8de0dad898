package io.millrace.launcher.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.value.FileMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StateDirectoryTest {
    private static final Path HOME = Path.of("/home/otto");

    private static final Map<String, String> SYSTEMD = Map.of(
            "STATE_DIRECTORY", "/var/lib/millrace",
            "CACHE_DIRECTORY", "/var/cache/millrace:/var/cache/more",
            "LOGS_DIRECTORY", "/var/log/millrace",
            "RUNTIME_DIRECTORY", "/run/millrace");

    @TempDir
    Path directory;

    @Test
    void isNamedByTheFirstPortBelowTheHomeDirectory() {
        StateDirectory state = StateDirectory.resolve(null, Map.of(), HOME, 8080);

        assertEquals(Path.of("/home/otto/.local/state/millrace/8080"), state.state());
        assertEquals(Path.of("/home/otto/.local/state/millrace/8080/admin.sock"), state.adminSocket());
        assertEquals(Path.of("/home/otto/.local/state/millrace/8080/cache"), state.cache());
    }

    /** HOME takes precedence over the user database, unless it is not an absolute path. */
    @ParameterizedTest
    @CsvSource({"/data/otto, /data/otto", "otto, ''", "'', ''", ", ''"})
    void theHomeDirectoryIsThatOfTheVariable(@Nullable String variable, String home) {
        Map<String, String> environment = variable == null ? Map.of() : Map.of("HOME", variable);
        assertEquals(
                Path.of(home.isEmpty() ? System.getProperty("user.home") : home), StateDirectory.home(environment));
    }

    @Test
    void followsXdgStateHome() {
        StateDirectory state = StateDirectory.resolve(null, Map.of("XDG_STATE_HOME", "/data/state"), HOME, 80);

        assertEquals(Path.of("/data/state/millrace/80"), state.state());
    }

    @Test
    void takesTheDirectoriesThatSystemdMade() {
        assertEquals(
                new StateDirectory(
                        Path.of("/var/lib/millrace"),
                        Path.of("/var/cache/millrace"),
                        Path.of("/var/log/millrace"),
                        Path.of("/run/millrace")),
                StateDirectory.resolve(null, SYSTEMD, HOME, 80));
    }

    @Test
    void takesTheOptionBeforeEverythingElse() {
        StateDirectory state = StateDirectory.resolve(Path.of("/srv/m/../mine"), SYSTEMD, HOME, 80);

        assertEquals(Path.of("/srv/mine"), state.state());
        assertEquals(Path.of("/srv/mine/admin.sock"), state.adminSocket());
    }

    @Test
    void keepsTheSocketsBetweenTheProcessesToThisUser() throws Exception {
        StateDirectory state = StateDirectory.resolve(directory.resolve("new"), Map.of(), HOME, 80);
        state.create(new FileMode(0640));

        assertEquals(
                PosixFilePermissions.fromString("rwx------"),
                Files.getPosixFilePermissions(state.control().directory()));
        assertTrue(Files.isDirectory(state.log()));
    }

    /** The result does not depend on the umask of the launcher. */
    @ParameterizedTest
    @CsvSource({"0640, rwxr-x---", "0600, rwx------", "0644, rwxr-xr-x", "0660, rwxrwx---"})
    void makesDirectoriesOfTheModeThatIsConfigured(String mode, String expected) throws Exception {
        StateDirectory state = StateDirectory.resolve(directory.resolve("a/b"), Map.of(), HOME, 80);
        state.create(new FileMode(Integer.parseInt(mode, 8)));
        for (Path made : List.of(state.state().getParent(), state.state(), state.cache(), state.log())) {
            assertEquals(expected, PosixFilePermissions.toString(Files.getPosixFilePermissions(made)), made::toString);
        }
        try (InstanceLock held = InstanceLock.acquire(state.lock())) {
            assertFalse(
                    Files.getPosixFilePermissions(state.lock()).contains(PosixFilePermission.OTHERS_READ),
                    held::toString);
        }
    }

    @Test
    void refusesAPathThatNoSocketCanHave() {
        StateDirectory state = StateDirectory.resolve(directory.resolve("x".repeat(100)), Map.of(), HOME, 80);

        LaunchException refused = assertThrows(LaunchException.class, () -> state.create(new FileMode(0640)));
        assertTrue(refused.getMessage().contains("limit=107"), refused::getMessage);
    }
}
