package io.millrace.proxy.extension.trail;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the file of running hooks, also after the end of the process that wrote it. */
class HookTrailTest {
    private static final List<String> HOOKS = List.of("authorize", "deliver");

    @TempDir
    private Path directory;

    private Path file() {
        return directory.resolve("worker.hooks");
    }

    @Test
    void theHooksInProgressAreNamed() throws Exception {
        HookTrail trail = HookTrail.create(file(), HOOKS, List.of("one", "two"));
        int first = trail.newSlot();
        int second = trail.newSlot();
        assertEquals(List.of(), HookTrail.read(file()));
        trail.begin(first, 1, 1);
        trail.begin(second, 0, 0);
        assertEquals(
                List.of("hook deliver of extension two", "hook authorize of extension one"), HookTrail.read(file()));
        trail.begin(second, 1, 1);
        assertEquals(List.of("hook deliver of extension two"), HookTrail.read(file()));
        trail.end(first);
        trail.end(second);
        assertEquals(List.of(), HookTrail.read(file()));
    }

    @Test
    void aThreadBeyondTheLimitIsNotNoted() throws Exception {
        HookTrail trail = HookTrail.create(file(), HOOKS, List.of("one"));
        int slot = 0;
        for (int i = 0; i < 2000; i++) {
            slot = trail.newSlot();
        }
        assertEquals(-1, slot);
        trail.begin(slot, 0, 0);
        trail.end(slot);
        assertEquals(List.of(), HookTrail.read(file()));
    }

    /** Writes to a file on a disk could wait for the disk, or fail if it is full. */
    @Test
    void theFileIsInMemory() throws Exception {
        Files.write(file(), new byte[10]);
        HookTrail.create(file(), HOOKS, List.of("one"));
        Path place = file().toRealPath();
        assertTrue(Set.of("tmpfs", "ramfs").contains(Files.getFileStore(place).type()), place::toString);
        HookTrail.create(file(), HOOKS, List.of("one"));
        Path next = file().toRealPath();
        assertTrue(next.equals(place) || Files.notExists(place), "the file of the earlier worker is left");
        HookTrail.delete(file());
        assertTrue(Files.notExists(next) && Files.notExists(file()));
        HookTrail.delete(file());
    }

    @AfterEach
    void delete() throws IOException {
        HookTrail.delete(file());
    }

    @Test
    void faultyFilesNameNothing() throws Exception {
        assertEquals(List.of(), HookTrail.read(file()));
        Files.write(file(), new byte[10]);
        assertEquals(List.of(), HookTrail.read(file()));
        HookTrail.create(file(), HOOKS, List.of("one"));
        byte[] whole = Files.readAllBytes(file());
        for (byte value : new byte[] {0, -1, 127}) {
            byte[] damaged = whole.clone();
            Arrays.fill(damaged, value);
            Files.write(file(), damaged);
            assertEquals(List.of(), HookTrail.read(file()));
        }
        List<String> tooMany = List.of("x".repeat(70_000));
        assertThrows(IOException.class, () -> HookTrail.create(file(), HOOKS, tooMany));
    }

    /** The process ends without any shutdown, in a hook. */
    @Test
    void theFileOutlivesAKilledProcess() throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        Process process = new ProcessBuilder(
                        java.toString(),
                        "-Xmx32m",
                        "-cp",
                        directoryOf(HookTrail.class) + File.pathSeparator + directoryOf(Ending.class),
                        Ending.class.getName(),
                        file().toString())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(true, process.waitFor(60, TimeUnit.SECONDS));
            assertEquals(3, process.exitValue(), output);
        } finally {
            process.destroyForcibly();
        }
        assertEquals(List.of("hook deliver of extension one"), HookTrail.read(file()));
    }

    private static Path directoryOf(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /** A process that halts in a hook. */
    static final class Ending {
        public static void main(String[] arguments) throws IOException {
            HookTrail trail = HookTrail.create(Path.of(arguments[0]), HOOKS, List.of("one"));
            trail.begin(trail.newSlot(), 0, 1);
            Runtime.getRuntime().halt(3);
        }
    }
}
