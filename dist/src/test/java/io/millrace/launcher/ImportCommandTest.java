package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Tests {@code millrace import ats DIR}. */
final class ImportCommandTest {
    private record Run(int exitCode, String out, String err) {}

    @TempDir
    Path directory;

    private Path ats;

    @BeforeEach
    void makeDirectory() throws IOException {
        ats = Files.createDirectory(directory.resolve("ats"));
    }

    private void write(String name, String... lines) throws IOException {
        Files.write(ats.resolve(name), List.of(lines));
    }

    private static Run millrace(Object... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = LauncherMain.commandLine("none")
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        String[] texts = new String[arguments.length];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = arguments[i].toString();
        }
        return new Run(line.execute(texts), out.toString(), err.toString());
    }

    @Test
    void writesTheConfigurationToStandardOutputAndTheReportBesideIt() throws IOException {
        write("remap.config", "map / http://origin.example/");
        Run run = millrace("import", "ats", ats);
        assertEquals(0, run.exitCode(), run::err);
        assertTrue(run.out().contains("- map: /  # remap.config:1\n"), run::out);
        assertTrue(run.err().startsWith("remap.config\n     1  mapped       map / http://origin.example/\n"), run::err);
        assertTrue(run.err().endsWith("checked: ok\n"), run::err);
    }

    @Test
    void writesAFileThatTheCheckTakesAndNeverOverAnother() throws IOException {
        write("remap.config", "map / http://origin.example/ @plugin=x.so");
        Path file = directory.resolve("millrace.yaml");
        Run first = millrace("import", "ats", ats, "--out", file);
        assertEquals(1, first.exitCode());
        assertEquals("", first.err());
        assertTrue(
                first.out().contains("     1  NOT MAPPED   map / http://origin.example/ @plugin=x.so\n"), first::out);
        assertTrue(first.out().endsWith("wrote " + file + "\n"), first::out);
        assertEquals(0, millrace("check", file).exitCode());

        Files.writeString(file, "mine");
        Run second = millrace("import", "ats", ats, "--out", file);
        assertEquals(2, second.exitCode());
        assertEquals("millrace: " + file + " already exists; --force overwrites the file\n", second.err());
        assertEquals("mine", Files.readString(file));

        assertEquals(1, millrace("import", "ats", ats, "--out", file, "--force").exitCode());
        assertEquals(0, millrace("check", file).exitCode());
        try (var files = Files.list(directory)) {
            assertEquals(2, files.count());
        }
    }

    @Test
    void brokenFilesAreExitCodeTwoAndNothingIsWritten() throws IOException {
        write("remap.config", "map http://a.example/");
        Path file = directory.resolve("millrace.yaml");
        Run run = millrace("import", "ats", ats, "--out", file);
        assertEquals(2, run.exitCode());
        assertEquals(ats.resolve("remap.config") + ":1:1: map needs two URLs\n", run.err());
        assertEquals("", run.out());
        assertFalse(Files.exists(file));
        assertEquals(2, millrace("import", "ats", directory.resolve("none")).exitCode());
        assertEquals(2, millrace("import").exitCode());
    }

    @Test
    void controlCharactersDoNotReachTheTerminal() throws IOException {
        write("remap.config", "\u001b[2J http://a.example/ http://b.example/");
        assertEquals(
                ats.resolve("remap.config") + ":1:1: '?[2J' is not a kind of rule\n",
                millrace("import", "ats", ats).err());
    }

    @Test
    void jsonHasEveryLineAndTheConfiguration() throws IOException {
        write("plugin.config", "tslua.so \"x\".lua");
        write("remap.config", "map / http://origin.example/");
        Run run = millrace("import", "ats", ats, "--json");
        assertEquals(1, run.exitCode());
        assertEquals("", run.err());
        int yaml = run.out().indexOf(",\"yaml\":\"");
        assertEquals(
                "{\"checked\":true,\"out\":null,\"counts\":{\"mapped\":1,\"same_as_default\":0,\"no_effect\":0,"
                        + "\"not_mapped\":1},\"files\":[\"remap.config\",\"plugin.config\"],\"lines\":["
                        + "{\"file\":\"remap.config\",\"line\":1,\"column\":1,\"text\":\"map / http://origin.example/\","
                        + "\"outcome\":\"mapped\",\"keys\":[\"remap[0]\"],\"note\":\"\"},"
                        + "{\"file\":\"plugin.config\",\"line\":1,\"column\":1,\"text\":\"tslua.so \\\"x\\\".lua\","
                        + "\"outcome\":\"not_mapped\",\"keys\":[],\"note\":\"Millrace has no scripting language; "
                        + "if the plugin refuses requests, write filters\"}],\"problems\":[],"
                        + "\"warnings\":[\"ip_allow.yaml is missing. "
                        + "Traffic Server denies all clients without it; here all clients may request what remap maps: "
                        + "set access.filters to restrict them\"]",
                run.out().substring(0, yaml));
        assertTrue(run.out().endsWith("\"}\n"), run::out);

        write("remap.config", "map");
        Run broken = millrace("import", "ats", ats, "--json");
        assertEquals(2, broken.exitCode());
        assertTrue(broken.out().startsWith("{\"checked\":false,"), broken::out);
        assertTrue(
                broken.out()
                        .endsWith("\"problems\":[\"" + ats.resolve("remap.config")
                                + ":1:1: map needs two URLs\"],\"warnings\":[],\"yaml\":null}\n"),
                broken::out);
    }
}
