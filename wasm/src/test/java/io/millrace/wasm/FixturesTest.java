package io.millrace.wasm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the modules of the tests with their texts, if the program {@code wat2wasm} (package wabt) is installed. */
class FixturesTest {
    private static final Path TEXTS = Path.of("src/test/resources/io/millrace/wasm");

    @TempDir
    Path directory;

    static List<Path> texts() throws Exception {
        try (Stream<Path> files = Files.list(TEXTS)) {
            return files.filter(file -> file.toString().endsWith(".wat"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void everyModuleHasAText() throws Exception {
        try (Stream<Path> files = Files.list(TEXTS)) {
            List<String> modules = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".wasm"))
                    .sorted()
                    .toList();
            assertTrue(modules.size() > 5);
            assertEquals(
                    texts().stream()
                            .map(text -> text.getFileName().toString().replace(".wat", ".wasm"))
                            .toList(),
                    modules);
        }
    }

    @ParameterizedTest
    @MethodSource("texts")
    void aModuleIsItsTranslatedText(Path text) throws Exception {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(path -> Files.isExecutable(Path.of(path, "wat2wasm"))),
                "wat2wasm is not installed");
        Path module = directory.resolve("module.wasm");
        Process process = new ProcessBuilder("wat2wasm", text.toString(), "-o", module.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        assertArrayEquals(
                Files.readAllBytes(module),
                WasmProxy.bytes(text.getFileName().toString().replace(".wat", ".wasm")));
    }
}
