package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.command.CommandClock;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * Runs each file of {@code scenarios/}: a command, the expected requests, the responses to them, and the expected
 * output and exit code. These are the golden files for scripts of users: change them only together with the change log.
 * With {@code -Dmillrace.golden.write=true} the expectations are rewritten.
 *
 * <p>{@code input} is standard input, {@code file NAME} a file in the directory that {@code DIRECTORY} stands for, and
 * {@code script} the behaviour of {@code bin/millrace}. Without a response no Millrace runs.
 */
final class ScenarioTest {
    private static final boolean WRITE = Boolean.getBoolean("millrace.golden.write");
    private static final Path SOURCES = Path.of("src/test/resources/io/millrace/cli/scenarios");

    @TempDir
    private Path directory;

    static Stream<String> scenarios() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            List<String> names =
                    files.map(file -> file.getFileName().toString()).sorted().toList();
            assertFalse(names.isEmpty());
            return names.stream();
        }
    }

    /** Permits one repetition, after exactly the expected time. */
    private static final class OnceMore implements CommandClock {
        private long nanos;
        private int looks;

        @Override
        public boolean sleep(Duration time) {
            nanos += time.toNanos();
            return looks++ == 0;
        }

        @Override
        public long nanoTime() {
            return nanos;
        }
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void printsAndReturnsTheSettingsOfTheFile(String name) throws IOException {
        Path file = SOURCES.resolve(name);
        Map<String, String> sections = sections(Files.readString(file));
        Map<String, String> observed = play(sections);
        if (WRITE) {
            sections.putAll(observed);
            Files.writeString(file, text(sections));
        }
        for (Map.Entry<String, String> part : observed.entrySet()) {
            assertEquals(section(sections, part.getKey()), part.getValue(), part.getKey() + " of " + name);
        }
    }

    /** Every command has a golden file for {@code -o json}, because scripts read that output. */
    @Test
    void everyCommandHasAGoldenFileInJson() throws IOException {
        List<String> inJson = new ArrayList<>();
        for (String name : scenarios().toList()) {
            Map<String, String> sections = sections(Files.readString(SOURCES.resolve(name)));
            String arguments = section(sections, "arguments").strip().replace('\n', ' ');
            if (arguments.contains(" -o json")) {
                inJson.add(arguments + " ");
                assertTrue(section(sections, "stdout").startsWith("{"), name);
            }
        }
        inJson.add("completion "); // its script is packed, and CompletionTest checks the JSON
        inJson.add("support bundle "); // names files of the machine; SupportBundleTest checks the JSON
        inJson.add("sign "); // depends on the time; SignCommandTest checks the JSON
        inJson.add("fleet config push "); // signs the time; FleetConfigCommandsTest checks the JSON
        inJson.add("fleet config rollback ");
        inJson.add("fleet config keygen "); // writes new keys
        inJson.add("shell "); // the JSON is that of its commands; ShellTest
        Set<String> lacking = new TreeSet<>();
        for (CommandLine command : CommandTree.all()) {
            String words = CommandTree.words(command);
            if (command.getSubcommands().isEmpty() && inJson.stream().noneMatch(line -> line.startsWith(words + " "))) {
                lacking.add(words);
            }
        }
        assertEquals(Set.of(), lacking);
    }

    private Map<String, String> play(Map<String, String> sections) throws IOException {
        Path socket = directory.resolve("admin.sock");
        List<String> answers = new ArrayList<>();
        for (Map.Entry<String, String> section : sections.entrySet()) {
            String[] words = section.getKey().split(" ", -1);
            if (words[0].equals("answer")) {
                answers.add(ScriptedAdmin.response(Integer.parseInt(words[1]), section.getValue()));
            } else if (words[0].equals("file")) {
                Files.writeString(directory.resolve(words[1]), section.getValue());
            }
        }
        List<String> arguments = new ArrayList<>();
        section(sections, "arguments")
                .lines()
                .forEach(line -> arguments.add(line.replace("DIRECTORY", directory.toString())));
        if (answers.isEmpty()) {
            return observed(run(sections, arguments), List.of(), socket);
        }
        arguments.addAll(List.of("--admin", socket.toString()));
        try (ScriptedAdmin admin = ScriptedAdmin.inTurn(socket, answers)) {
            Run run = run(sections, arguments);
            assertEquals(answers.size(), admin.requests().size(), run.toString());
            return observed(run, admin.requests(), socket);
        }
    }

    private Run run(Map<String, String> sections, List<String> arguments) throws IOException {
        ProcessEnvironment environment = new ProcessEnvironment(
                Map.of(),
                directory,
                directory.resolve("run"),
                product(sections),
                false,
                new ByteArrayInputStream(section(sections, "input").getBytes(StandardCharsets.UTF_8)));
        return Run.of(environment, new OnceMore(), arguments.toArray(String[]::new));
    }

    private Path product(Map<String, String> sections) throws IOException {
        if (!sections.containsKey("script")) {
            return null;
        }
        Path product = directory.resolve("product");
        Path millrace = Files.createDirectories(product.resolve("bin")).resolve("millrace");
        Files.writeString(millrace, "#!/bin/sh\n" + section(sections, "script"));
        Files.setPosixFilePermissions(millrace, PosixFilePermissions.fromString("rwxr-xr-x"));
        return product;
    }

    private Map<String, String> observed(Run run, List<String> requests, Path socket) {
        StringBuilder sent = new StringBuilder();
        for (String request : requests) {
            String line = request.substring(0, request.indexOf(" HTTP/1.1\r\n"));
            String body = request.substring(request.indexOf("\r\n\r\n") + 4);
            sent.append(line).append('\n').append(body.isEmpty() ? "" : body + "\n");
        }
        Map<String, String> observed = new LinkedHashMap<>();
        observed.put("request", sent.toString());
        observed.put("stdout", named(run.out(), socket));
        observed.put("stderr", named(run.err(), socket));
        observed.put("exit", run.exitCode() + "\n");
        return observed;
    }

    private String named(String text, Path socket) {
        return text.replace(socket.toString(), "SOCKET").replace(directory.toString(), "DIRECTORY");
    }

    private static String section(Map<String, String> sections, String name) {
        return sections.getOrDefault(name, "");
    }

    /** Sections start with a line {@code === name}. */
    private static Map<String, String> sections(String text) {
        Map<String, String> sections = new LinkedHashMap<>();
        for (String part : text.split("(?m)^=== ", -1)) {
            int end = part.indexOf('\n');
            if (end > 0) {
                sections.put(part.substring(0, end), part.substring(end + 1));
            }
        }
        return sections;
    }

    private static String text(Map<String, String> sections) {
        StringBuilder text = new StringBuilder();
        sections.forEach(
                (name, content) -> text.append("=== ").append(name).append('\n').append(content));
        return text.toString();
    }
}
