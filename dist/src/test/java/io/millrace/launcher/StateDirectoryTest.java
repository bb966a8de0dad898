package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    void keepsTheSocketsBetweenTheProcessesToThisUser() throws IOException, LaunchException {
        StateDirectory state = StateDirectory.resolve(directory.resolve("new"), Map.of(), HOME, 80);
        state.create();

        assertEquals(
                PosixFilePermissions.fromString("rwx------"),
                Files.getPosixFilePermissions(state.control().directory()));
        assertTrue(Files.isDirectory(state.log()));
    }

    @Test
    void refusesAPathThatNoSocketCanHave() {
        StateDirectory state = StateDirectory.resolve(directory.resolve("x".repeat(100)), Map.of(), HOME, 80);

        LaunchException refused = assertThrows(LaunchException.class, state::create);
        assertTrue(refused.getMessage().contains("limit=107"), refused::getMessage);
    }
}
