package io.millrace.launcher.build;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Tests that {@code millrace version} prints the build in both forms. */
final class VersionCommandTest {
    @Test
    void buildHasVersionAndCommit() throws IOException {
        BuildVersion build = BuildVersion.read();
        assertTrue(build.version().matches("\\d+\\.\\d+\\.\\d+(-.*)?"), build.version());
        assertTrue(build.commit().matches("[0-9a-f]{40}|unknown"), build.commit());
    }

    @Test
    void printsText() throws IOException {
        BuildVersion build = BuildVersion.read();
        assertEquals(
                "Millrace " + build.version() + "\nCommit " + build.commit() + "\nJava "
                        + System.getProperty("java.version") + " (" + System.getProperty("java.vendor") + ")\n",
                output());
    }

    @Test
    void printsJson() throws IOException {
        BuildVersion build = BuildVersion.read();
        assertEquals(
                "{\"version\":\"" + build.version() + "\",\"commit\":\"" + build.commit() + "\",\"java\":\""
                        + System.getProperty("java.version") + "\",\"java_vendor\":"
                        + VersionCommand.quoted(System.getProperty("java.vendor")) + "}\n",
                output("-o", "json"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {"plain | \"plain\"", "a\"b | \"a\\\"b\"", "a\\b | \"a\\\\b\""})
    void escapesStrings(String text, String json) {
        assertEquals(json, VersionCommand.quoted(text));
    }

    private static String output(String... arguments) {
        CommandLine line = new CommandLine(new VersionCommand()).setCaseInsensitiveEnumValuesAllowed(true);
        StringWriter out = new StringWriter();
        line.setOut(new PrintWriter(out));
        assertEquals(0, line.execute(arguments));
        return out.toString().replace(System.lineSeparator(), "\n");
    }
}
