package io.millrace.system;

import static org.awaitility.Awaitility.await;
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
    private static final Duration COMPILED_WITHIN = Duration.ofMinutes(2);
    private static final int HITS_BETWEEN_CHECKS = 500;

    private static final List<String> METHODS_OF_A_HIT = List.of(
            "io.netty.buffer.AbstractByteBuf.writeBytes",
            "io.netty.channel.epoll.EpollIoHandler.processReady",
            "io.millrace.proxy.http1.PlainRequestScanner.scan",
            "io.millrace.proxy.http1.Http1HeadWriter.write",
            "io.millrace.proxy.exchange.decide.RequestDecider.decide",
            "io.millrace.proxy.exchange.ExchangeReport.end",
            "io.millrace.proxy.observe.log.AccessLogRing.drain");

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

    /**
     * With an archive of Java 17 that was recorded while methods waited for the compiler, a worker interprets these
     * methods for ever.
     */
    @ParameterizedTest
    @MethodSource("jdks")
    @Tag("nightly")
    void theMethodsOfAHitAreCompiledWithTheArchive(Path jdk) throws Exception {
        archive("--java-home", jdk.toString()).succeeds();
        MillraceProcess proxy = product.launch()
                .demo()
                .set("worker.java_home", jdk.toString())
                .set("worker.event_loops", "1")
                .set("cache.ram_size", "32MiB")
                .start();
        await("a compiled form of every method of a hit")
                .atMost(COMPILED_WITHIN)
                .untilAsserted(() -> {
                    for (int hit = 0; hit < HITS_BETWEEN_CHECKS; hit++) {
                        RawClient.fetch(proxy.port(), "/style.css");
                    }
                    assertEquals(List.of(), notCompiled(jdk, proxy.worker().pid()));
                });
    }

    private static List<String> notCompiled(Path jdk, long worker) {
        String compiled = Command.run(
                        product.home(),
                        COMPILED_WITHIN,
                        List.of(jdk.resolve("bin/jcmd").toString(), Long.toString(worker), "Compiler.codelist"))
                .succeeds()
                .out();
        return METHODS_OF_A_HIT.stream()
                .filter(method -> !compiled.contains(" " + method + "("))
                .toList();
    }

    @Test
    void aDirectoryWithoutAJvmIsNoJdk() {
        Command none = archive("--java-home", "/proc");
        assertEquals(2, none.exitCode(), none::toString);
        assertEquals(
                "millrace: --java-home: /proc has no executable bin/java; name the directory of a JDK\n", none.err());
    }
}
