package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.command.ProcessEnvironment;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ViaCommandTest {
    private static Run via(String input, String... arguments) {
        return Run.of(
                new ProcessEnvironment(
                        Map.of(),
                        Path.of("/"),
                        Path.of("/"),
                        null,
                        false,
                        new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8))),
                arguments);
    }

    @Test
    void printsALinePerLetter() {
        Run run = via("", "via", "[cMsSfW]");
        assertEquals(0, run.exitCode(), run.err());
        assertEquals("""
                [cMsSfW]
                  cM  cache lookup                 not in the cache (miss)
                  sS  origin                       it answered
                  fW  cache fill                   written, a new copy
                """, run.out());
    }

    @Test
    void readsStandardInputAndPrintsAnObjectPerLine() {
        Run run = via("1.1 edge (Millrace [cHs f ])\n\n", "via", "-o", "json");
        assertEquals(
                "{\"via\":[{\"proxy\":\"1.1 edge\",\"text\":\"cHs f \",\"letters\":["
                        + "{\"flag\":\"c\",\"letter\":\"H\",\"question\":\"cache lookup\",\"means\":\"in the cache, fresh (hit)\"},"
                        + "{\"flag\":\"s\",\"letter\":\" \",\"question\":\"origin\",\"means\":\"not asked\"},"
                        + "{\"flag\":\"f\",\"letter\":\" \",\"question\":\"cache fill\",\"means\":\"nothing written\"}]}]}\n",
                run.out());
    }

    @Test
    void reportsAnInvalidVia() {
        Run run = via("", "via", "nonsense");
        assertEquals(2, run.exitCode());
        assertTrue(run.err().startsWith("millctl: no letters of Via: 'nonsense'"), run.err());
    }
}
