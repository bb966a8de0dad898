package io.millrace.worker.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the program log of a process of its own, since a JVM has one LogManager. */
class ProcessLogTest {
    private static final List<String> USUAL = List.of(
            "<6>Program: info",
            "<4>Loop: warning of Netty",
            "<3>Library: error of a library",
            "<6>Jdk: info of the JDK",
            "<6>Program: in a shutdown hook");

    @TempDir
    Path directory;

    /** Runs the program under a journal, and returns the lines of its standard error. */
    private static List<String> run(String... options) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.addAll(List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m"));
        line.addAll(List.of(options));
        line.addAll(List.of("-cp", System.getProperty("java.class.path"), LoggingProgram.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(line);
        builder.environment().put("JOURNAL_STREAM", "8:1");
        Process process =
                builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        try (InputStream errors = process.getErrorStream()) {
            String text = new String(errors.readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), text);
            return text.lines().toList();
        }
    }

    @Test
    void aProcessLogsUntilItsEnd() throws IOException, InterruptedException {
        assertEquals(USUAL, run());
    }

    @Test
    void anOldConfigurationOfLog4jIsReported() throws IOException, InterruptedException {
        List<String> lines = run("-Dlog4j2.configurationFile=/etc/millrace/log4j2.xml");
        assertTrue(
                lines.get(0).startsWith("<4>ProcessLog: the system property log4j2.configurationFile has no effect"),
                lines.get(0));
        assertEquals(USUAL, lines.subList(1, lines.size()));
    }

    /** The example of docs/guide/operating.md. */
    @Test
    void aConfigurationOfTheOperatorReplacesThatOfTheProduct() throws IOException, InterruptedException {
        Path file = directory.resolve("logging.properties");
        Files.writeString(file, """
                handlers = io.millrace.worker.log.ProcessLogHandler
                .level = SEVERE
                io.millrace.Program.level = FINE
                """);
        assertEquals(
                List.of("<7>Program: debug", "<6>Program: info", "<3>Library: error of a library"),
                run("-Djava.util.logging.config.file=" + file));
    }
}
