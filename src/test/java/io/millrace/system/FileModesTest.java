package io.millrace.system;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that the product's files are accessible only to its user and group, with any start and any umask. */
@Tag("nightly")
class FileModesTest {
    private static final long REQUESTS = 400;

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @Test
    void nothingIsForOthers_startedByTheScript() throws Exception {
        nothingIsForOthers(product.home().resolve("bin/millrace").toString());
    }

    @Test
    void nothingIsForOthers_startedAsAJar() throws Exception {
        Path home = product.home();
        nothingIsForOthers(Path.of(System.getProperty("java.home"), "bin/java") + " -Dmillrace.home=" + home + " -jar "
                + home.resolve("lib/millrace-launcher.jar"));
    }

    private static void nothingIsForOthers(String command) throws Exception {
        Path state = product.newDirectory().resolve("made/state");
        MillraceProcess running = product.launch()
                .command("sh", "-c", "umask 0000 && exec " + command + " \"$@\"", "sh")
                .demo()
                .state(state)
                .set("log.access.rotate_size", "16KiB")
                .start();
        for (int i = 0; i < REQUESTS; i++) {
            RawClient.fetch(running.port(), "/?" + "x".repeat(200) + i);
        }
        await("a rotated log").atMost(Duration.ofSeconds(20)).until(() -> filesIn(state.resolve("log")) > 1);
        List<String> wide = new ArrayList<>();
        int seen = visit(state.getParent(), wide);
        assertEquals(List.of(), wide);
        assertTrue(seen > 8, "only " + seen + " files");
        assertEquals("rwxr-x---", PosixFilePermissions.toString(Files.getPosixFilePermissions(state.resolve("cache"))));
    }

    private static long filesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.count();
        }
    }

    private static int visit(Path top, List<String> wide) throws IOException {
        int[] seen = {0};
        Files.walkFileTree(top, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                return visitFile(directory, attributes);
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                seen[0]++;
                var mode = Files.readAttributes(file, PosixFileAttributes.class).permissions();
                if (!Collections.disjoint(
                        mode,
                        List.of(
                                PosixFilePermission.OTHERS_READ,
                                PosixFilePermission.OTHERS_WRITE,
                                PosixFilePermission.OTHERS_EXECUTE))) {
                    wide.add(file + " " + PosixFilePermissions.toString(mode));
                }
                return FileVisitResult.CONTINUE;
            }

            /** Sockets and temporary files appear and disappear. */
            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) {
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) {
                return FileVisitResult.CONTINUE;
            }
        });
        return seen[0];
    }
}
