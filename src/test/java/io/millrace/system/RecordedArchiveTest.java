package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that the first worker maps the archive that {@code millrace archive} records. */
class RecordedArchiveTest {
    private static final Duration RECORDED_WITHIN = Duration.ofMinutes(3);

    @RegisterExtension
    static final PackedProduct product = PackedProduct.unpackedAnew();

    static Stream<Path> jdks() throws IOException {
        return WorkerArchiveTest.jdks();
    }

    private static Command archive(String... arguments) {
        List<String> line =
                new ArrayList<>(List.of(product.home().resolve("bin/millrace").toString(), "archive"));
        line.addAll(List.of(arguments));
        return Command.run(product.home(), RECORDED_WITHIN, line);
    }

    @ParameterizedTest
    @MethodSource("jdks")
    @Tag("nightly")
    void theFirstWorkerMapsWhatItRecords(Path jdk) throws Exception {
        String recorded = archive("--java-home", jdk.toString()).succeeds().out();
        Path archive = Path.of(recorded.substring(0, recorded.indexOf(": recorded, ")));
        assertEquals(product.home().resolve("lib"), archive.getParent());
        assertEquals(
                archive + ": already recorded\n",
                archive("--java-home", jdk.toString()).succeeds().out());

        MillraceProcess proxy = product.launch()
                .demo()
                .set("worker.java_home", jdk.toString())
                .set("cache.ram_size", "32MiB")
                .start();
        Path maps = Path.of("/proc", Long.toString(proxy.worker().pid()), "maps");
        assertTrue(Files.readString(maps).contains(archive.toString()), proxy::describe);
    }

    @Test
    void aDirectoryWithoutAJvmIsNoJdk() {
        Command none = archive("--java-home", "/proc");
        assertEquals(2, none.exitCode(), none::toString);
        assertEquals(
                "millrace: --java-home: /proc has no executable bin/java; name the directory of a JDK\n", none.err());
    }
}
