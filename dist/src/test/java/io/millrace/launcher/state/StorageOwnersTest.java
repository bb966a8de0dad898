package io.millrace.launcher.state;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that storage which another process has open prevents the start. */
class StorageOwnersTest {
    @TempDir
    Path directory;

    @Test
    void namesTheProcessThatHasAPathOpen() throws Exception {
        Path cache = Files.createDirectory(directory.resolve("cache"));
        ProxyConfig config = config(cache);
        assertDoesNotThrow(() -> StorageOwners.checkFree(config, 0));
        Path lock = Files.createFile(cache.resolve("lock"));
        assertDoesNotThrow(() -> StorageOwners.checkFree(config, 0));

        Process owner = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        lock.toString())
                .start();
        try {
            assertEquals(1, owner.getInputStream().read());
            Files.writeString(cache.resolve("owner"), "pid " + owner.pid() + " on host here\n");
            LaunchException refused = assertThrows(LaunchException.class, () -> StorageOwners.checkFree(config, 1));
            String expected = cache + " is in use by another process (pid " + owner.pid() + " on host here)";
            assertTrue(refused.getMessage().startsWith(expected), refused::getMessage);
            // This is the worker that the launcher takes over.
            assertDoesNotThrow(() -> StorageOwners.checkFree(config, owner.pid()));
        } finally {
            assertTrue(owner.destroyForcibly().waitFor(30, TimeUnit.SECONDS));
        }
        assertDoesNotThrow(() -> StorageOwners.checkFree(config, 0));
    }

    private static ProxyConfig config(Path cache) {
        String text = "listen: [':8080']\nremap: [{map: /, to: 'http://127.0.0.1:1/'}]\nstorage: [{path: " + cache
                + ", size: 1GiB}]\n";
        return Objects.requireNonNull(
                ConfigLoader.parse(text, "test.yaml", Map.of()).config());
    }

    /** Holds the lock of a file until it is killed. */
    static final class Holder {
        public static void main(String[] arguments) throws Exception {
            try (FileChannel channel = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE)) {
                var unused = channel.lock();
                System.out.write(1);
                System.out.flush();
                assertEquals(-1, System.in.read());
            }
        }
    }
}
