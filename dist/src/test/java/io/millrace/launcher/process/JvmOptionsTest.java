package io.millrace.launcher.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JvmOptionsTest {
    @TempDir
    Path conf;

    @ParameterizedTest
    @CsvSource({
        "-XX:+UseG1GC, 17, true",
        "17:-XX:+UseG1GC, 17, true",
        "17:-XX:+UseG1GC, 21, false",
        "17-20:-XX:+UseG1GC, 20, true",
        "17-20:-XX:+UseG1GC, 21, false",
        "21-:-XX:+UseG1GC, 25, true",
        "21-:-XX:+UseG1GC, 17, false",
        "21-: -XX:+UseG1GC, 25, true"
    })
    void takesALineForTheReleasesItNames(String line, int feature, boolean taken) throws IOException {
        assertEquals(taken ? List.of("-XX:+UseG1GC") : List.of(), JvmOptions.parse(line, feature, "test"));
    }

    @Test
    void skipsCommentsAndEmptyLines() throws IOException {
        assertEquals(List.of(), JvmOptions.parse("# -Xmx1g", 17, "test"));
        assertEquals(List.of(), JvmOptions.parse("", 17, "test"));
    }

    @Test
    void readsTheDirectoryAfterTheFileInTheOrderOfNames() throws IOException {
        Files.writeString(conf.resolve("jvm.options"), "# ours\n-Da=1\n");
        Path more = Files.createDirectory(conf.resolve("jvm.options.d"));
        Files.writeString(more.resolve("20-late.options"), "-Dc=3");
        Files.writeString(more.resolve("10-early.options"), "-Db=2");
        Files.writeString(more.resolve("README"), "not an option");

        assertEquals(List.of("-Da=1", "-Db=2", "-Dc=3"), JvmOptions.read(conf, 17));
    }

    @Test
    void namesFileAndLineOfAnInvalidOption() throws IOException {
        Files.writeString(conf.resolve("jvm.options"), "-Da=1\nXmx1g\n");

        IOException refused = assertThrows(IOException.class, () -> JvmOptions.read(conf, 17));
        assertTrue(refused.getMessage().startsWith(conf.resolve("jvm.options") + ":2: 'Xmx1g'"), refused::getMessage);
    }

    @Test
    void namesTheLineOfAReleaseThatIsNoNumber() {
        String line = "99999999999-:-Da=1";

        IOException refused = assertThrows(IOException.class, () -> JvmOptions.parse(line, 17, "test:1"));
        assertTrue(refused.getMessage().startsWith("test:1: '" + line + "'"), refused::getMessage);
    }

    @Test
    void hasNoOptionsWithoutFiles() throws IOException {
        assertEquals(List.of(), JvmOptions.read(conf.resolve("missing"), 17));
    }
}
