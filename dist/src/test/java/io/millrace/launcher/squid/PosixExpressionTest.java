package io.millrace.launcher.squid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.ImportedRequests;
import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.launcher.importing.source.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that POSIX expressions keep their meaning, or are reported with their line. */
final class PosixExpressionTest {
    @TempDir
    Path directory;

    private ImportResult read(String... lines) throws IOException {
        String text = "http_port 80 accel vhost\ncache_peer 127.0.0.1 parent 9 0 originserver\n"
                + String.join("\n", lines) + "\n";
        ImportResult result = SquidImport.read(Files.writeString(directory.resolve("squid.conf"), text));
        assertEquals(java.util.List.of(), result.problems());
        return result;
    }

    private static ImportedLine line(ImportResult result, String start) {
        return result.lines().stream()
                .filter(each -> each.text().startsWith(start))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "a.b; a.b",
                "\\.php$; \\.php$",
                "[\\.]x; [\\\\.]x",
                "[]a]; [\\]a]",
                "[^]a]; [^\\]a]",
                "[[:digit:]]+; [[:digit:]]+",
                "a{2,3}; a{2,3}",
                "\\w\\b\\s; \\w\\b\\s",
                "a}; a\\}",
            })
    void expressionsAreConverted(String posix, String expected) {
        assertEquals(expected, PosixExpression.toRe2(posix, false));
        assertEquals("(?i)" + expected, PosixExpression.toRe2(posix, true));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a\\d", "\\<a", "a\\>", "(a)\\1", "a\\tb", "a\\x41", "\\Aa", "a+?", "a*+", "a{2}?", "(?:a)", "(?i)a",
                "a{,3}", "a{x}", "a{2000}", "a)", "(a", "[a", "*a", "[[.-.]]", "[[=a=]]", "a\\"
            })
    void expressionsWithAnotherMeaningHaveNone(String posix) {
        assertNull(PosixExpression.toRe2(posix, false));
    }

    @ParameterizedTest
    @CsvSource({
        "acl bad url_regex (a)\\1, cache deny bad",
        "acl bad urlpath_regex a\\d, cache deny bad",
        "acl bad browser \\<bot, http_access deny bad",
        "acl bad dstdom_regex a+?, http_access deny bad",
    })
    void expressionsWithoutAnEquivalentAreReported(String acl, String use) throws IOException {
        ImportResult result = read(acl, use, "http_access allow all");
        assertEquals(Outcome.NOT_MAPPED, line(result, "acl bad").outcome());
        assertTrue(
                line(result, "acl bad").note().contains("POSIX"),
                line(result, "acl bad").note());
        assertEquals(3, line(result, "acl bad").line());
        assertEquals(Outcome.NOT_MAPPED, line(result, use).outcome());
        String yaml = String.valueOf(result.yaml());
        assertTrue(!yaml.contains("url_regex:") && !yaml.contains("- when"), yaml);
        assertEquals(use.startsWith("cache") ? 0 : 1, result.warnings().size());
    }

    @Test
    void linesOfRefreshPatternAreReported() throws IOException {
        ImportResult result = read(
                "refresh_pattern (a)\\1 60 20% 1440",
                "refresh_pattern -i [\\.]gif$ 60 20% 1440", "http_access allow all");
        assertEquals(Outcome.NOT_MAPPED, line(result, "refresh_pattern (a)").outcome());
        assertTrue(String.valueOf(result.yaml()).contains("url_regex: '(?i)[\\\\.]gif$'"), result.yaml());
    }

    /** The option {@code -i} holds for the values after it in the same line. */
    @Test
    void caseIsIgnoredWhereTheOptionSaysSo() throws IOException {
        ImportResult result = read(
                "acl bad browser Abc -i def +i Ghi",
                "acl bad browser Jkl",
                "acl dir urlpath_regex ^/Priv/ -i \\.bak$",
                "acl site dstdom_regex -i ^B\\.",
                "http_access deny bad",
                "http_access deny dir",
                "http_access deny site",
                "http_access allow all");
        assertEquals(java.util.List.of(), result.warnings());
        try (ImportedRequests requests = new ImportedRequests(result, directory)) {
            for (String name : new String[] {"Abc", "def", "DEF", "Ghi", "Jkl"}) {
                assertEquals("403", requests.status("GET", "/", "192.0.2.1", "User-Agent: " + name), name);
            }
            for (String name : new String[] {"ABC", "GHI", "jkl"}) {
                assertEquals("502", requests.status("GET", "/", "192.0.2.1", "User-Agent: " + name), name);
            }
            requests.assertAnswers("""
                    192.0.2.1 /Priv/a 403
                    192.0.2.1 /priv/a ok
                    192.0.2.1 /a.BAK 403
                    192.0.2.1 /a%2ebak 403
                    192.0.2.1 /a.bak2 ok
                    """);
        }
    }

    @Test
    void alternativesOfPathsMatchTheWholeUrl() throws IOException {
        ImportResult result = read("acl dir urlpath_regex ^/a|^/b", "cache deny dir", "http_access allow all");
        assertTrue(
                String.valueOf(result.yaml()).contains("url_regex: '^[a-z]+://[^/]+/a|^[a-z]+://[^/]+/b'"),
                result.yaml());
    }
}
