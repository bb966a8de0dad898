package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.draft.DraftWriter;
import io.millrace.launcher.importing.source.Outcome;
import io.millrace.proxy.config.yaml.ConfigLoader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that each part of random files is imported or reported with its place, and that the output is YAML that passes
 * the check.
 */
final class AtsTextTest extends AtsFixture {
    /** Words of random lines. */
    private static final String[] WORDS = {
        "map",
        "redirect",
        "regex_map",
        "http://a.example/",
        "http://b.example:99999/",
        "/",
        "@action=allow",
        "@src_ip=10.0.0.1",
        "@method=get",
        "@plugin=x.so",
        "@volume=1",
        "http://[",
        "https://c.example/'\"",
        "$1",
        "#",
        "CONFIG",
        "proxy.config.http.cache.required_headers",
        "INT",
        "2",
        "-1",
        "proxy.config.http.server_ports",
        "STRING",
        "8080",
        "dest_domain=x",
        "revalidate=1h",
        "ttl-in-cache=0",
        "action=never-cache",
        "/data",
        "1G",
        "volume=1",
        "size=50%",
        "parent=\"p:80\"",
        "src_ip=0/0",
        "action=ip_deny",
        "method=PURGE",
        "${HOME}",
        "\u202e",
        "\\"
    };

    private static final List<String> FILES = List.of(
            "records.config",
            "remap.config",
            "cache.config",
            "storage.config",
            "volume.config",
            "parent.config",
            "ip_allow.config");

    @Test
    void charactersThatYamlHasNotAreEscapedOrInCommentsLeftOut() {
        assertEquals("\"a\\u0001\\u000a\\\"\\\\\"", DraftWriter.quoted("a\u0001\n\"\\"));
        samples.file("records.yaml", "records:", "  proxy_name: \"a\\x01b\"");
        samples.file("remap.config", "map / http://o.example/ @plugin=\uffff.so");
        assertHas("- map: /");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "Millrace loads no plugins");
        assertEquals("records.yaml", samples.line("records.yaml", 2).file());
    }

    @Test
    void markAtTheBeginningOfAFileIsNoneOfItsText() {
        samples.file("remap.config", "\ufeffmap / http://o.example/");
        assertHas("- map: /");
    }

    @Test
    void commentsInLatin1AreNoError() throws IOException {
        Files.write(
                directory.resolve("remap.config"),
                "# f\u00fcr alle\nmap / http://o.example/\n".getBytes(StandardCharsets.ISO_8859_1));
        assertHas("- map: /");
    }

    @Test
    void textsThatYamlWouldReadOtherwiseAreQuoted() {
        for (String text : List.of(
                "yes", "~", "- a", "a: b", "x # y", "'", "{a}", "[a]", "*", "&a", "!b", "%", "@", "`", "null", "1:2",
                "")) {
            String quoted = DraftWriter.quoted(text);
            assertTrue(text.isEmpty() || quoted.startsWith("'"), quoted);
        }
        assertEquals("'$${HOME}'", DraftWriter.quoted("${HOME}"));
        assertEquals("http://a.example:8080/b", DraftWriter.quoted("http://a.example:8080/b"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "records.config|CONFIG proxy.config.http.cache.http INT yes|records.config:1:1|is not an integer",
                "records.config|'  CONFIG proxy.config.http.cache.http'|records.config:1:3|is not a record",
                "records.config|CONFIG proxy.config.http.insert_response_via_str INT 9|records.config:1:1|not one of 0 to 4",
                "records.yaml|records: [|records.yaml:2:1|YAML",
                "records.yaml|other: 1|records.yaml:1:1|has no section records:",
                "remap.config|mapp http://a/ http://b/|remap.config:1:1|not a kind of rule",
                "remap.config|map http://a/|remap.config:1:1|needs two URLs",
                "remap.config|map http://a/ http://b/ @src_ip=10.0.0|remap.config:1:25|neither an address",
                "remap.config|map http://a/ http://b/ @pparam=\"x @action=deny|remap.config:1:1|a quotation mark is not closed",
                "records.config|CONFIG proxy.config.http.cache.heuristic_lm_factor FLOAT 1e999999999|records.config:1:1|not a number",
                "remap.config|.activatefilter none|remap.config:1:1|no filter is named",
                "remap.config|.include none.config|remap.config:1:10|no such file",
                "cache.config|dest_domain=a ttl-in-cache=long|cache.config:1:15|is not a time",
                "cache.config|dest_domain=a|cache.config:1:1|has no effect of its own",
                "ip_allow.config|src_ip=10.0.0 action=ip_allow|ip_allow.config:1:1|neither an address",
                "storage.config|/data lots|storage.config:1:1|is not an integer",
                "volume.config|volume=1|volume.config:1:1|volume= and size="
            })
    void brokenFilesAreNamedByPlaceAndNothingIsWritten(String file, String line, String place, String said) {
        samples.file(file, line);
        assertProblem(place, said);
    }

    @Test
    void directoryWithoutAnyFileOfTrafficServerIsAnError() {
        assertEquals(
                List.of(directory
                        + ": contains no configuration file of Traffic Server, such as records.yaml or remap.config"),
                samples.result().problems());
        Path missing = directory.resolve("missing");
        assertEquals(
                List.of(missing + ": no such directory"),
                AtsImport.read(missing, null).problems());
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, Integer.getInteger("millrace.import.seeds", 10));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void theOutputPassesTheCheckAndNoLineIsLost(long seed) throws IOException {
        Random random = new Random(seed);
        for (String file : FILES) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 12; i++) {
                for (int j = random.nextInt(6); j >= 0; j--) {
                    text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
                }
                text.append('\n');
            }
            Files.writeString(directory.resolve(file), text);
        }
        ImportResult result = samples.result();
        assertTrue(result.yaml() != null || !result.problems().isEmpty(), "seed " + seed);
        // Lines that Traffic Server refuses are removed until the rest can be read.
        for (int round = 0; round < 200 && result.yaml() == null; round++) {
            for (String problem : result.problems()) {
                takeAway(problem);
            }
            result = AtsImport.read(directory, null);
        }
        String yaml = String.valueOf(result.yaml());
        assertTrue(ConfigLoader.parse(yaml, "millrace.yaml", Map.of()).isOk(), "seed " + seed + "\n" + yaml);
    }

    /** Blanks the line named in a problem. */
    private void takeAway(String problem) throws IOException {
        String[] parts = problem.substring(directory.toString().length() + 1).split(":", 3);
        Path file = directory.resolve(parts[0]);
        List<String> lines = new ArrayList<>(Files.readAllLines(file));
        lines.set(Integer.parseInt(parts[1]) - 1, "");
        Files.write(file, lines);
    }
}
