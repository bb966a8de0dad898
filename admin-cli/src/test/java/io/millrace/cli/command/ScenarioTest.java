package io.millrace.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.millrace.cli.client.ScriptedAdmin;
import io.millrace.cli.client.ScriptedAdmin.End;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Plays each file of {@code scenarios/}: a command, the request it must send, the answer it gets, and what it must print
 * and return. These are the golden files of what scripts rely on: change them only together with the change log.
 * With {@code -Dmillrace.golden.write=true} the expectations are written instead of compared.
 */
final class ScenarioTest {
    private static final boolean WRITE = Boolean.getBoolean("millrace.golden.write");
    private static final Path SOURCES = Path.of("src/test/resources/io/millrace/cli/command/scenarios");

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

    @ParameterizedTest
    @MethodSource("scenarios")
    void printsAndReturnsWhatTheFileSays(String name) throws IOException, URISyntaxException {
        Path file = SOURCES.resolve(name);
        Map<String, String> sections = sections(Files.readString(file));
        Path socket = directory.resolve("admin.sock");
        String answer = "";
        int status = 0;
        for (Map.Entry<String, String> section : sections.entrySet()) {
            if (section.getKey().startsWith("answer ")) {
                status = Integer.parseInt(section.getKey().substring("answer ".length()));
                answer = section.getValue();
            }
        }
        List<String> arguments =
                new ArrayList<>(section(sections, "arguments").lines().toList());
        arguments.addAll(List.of("--admin", socket.toString()));
        Surroundings surroundings = new Surroundings(Map.of(), directory, directory.resolve("run"), null, false);
        String request;
        Run run;
        try (ScriptedAdmin admin = ScriptedAdmin.on(socket, End.CLOSE, ScriptedAdmin.response(status, answer))) {
            run = Run.of(surroundings, arguments.toArray(String[]::new));
            assertEquals(1, admin.requests().size(), run.toString());
            request = admin.requests().get(0);
        }
        String line = request.substring(0, request.indexOf(" HTTP/1.1\r\n"));
        String body = request.substring(request.indexOf("\r\n\r\n") + 4);
        Map<String, String> observed = new LinkedHashMap<>();
        observed.put("request", line + "\n" + (body.isEmpty() ? "" : body + "\n"));
        observed.put("stdout", run.out().replace(socket.toString(), "SOCKET"));
        observed.put("stderr", run.err().replace(socket.toString(), "SOCKET"));
        observed.put("exit", run.exitCode() + "\n");
        if (WRITE) {
            sections.putAll(observed);
            Files.writeString(file, text(sections));
        }
        for (Map.Entry<String, String> part : observed.entrySet()) {
            assertEquals(section(sections, part.getKey()), part.getValue(), part.getKey() + " of " + name);
        }
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
