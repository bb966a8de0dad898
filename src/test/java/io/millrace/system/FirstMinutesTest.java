package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests the commands of the first minutes on the packed product: init, run, shell, support bundle. */
class FirstMinutesTest {
    private static final String NAME = "www.example.com";

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.asShipped();

    @TempDir
    Path directory;

    private Command millrace(String... words) {
        return run("bin/millrace", words);
    }

    private Command run(String script, String... words) {
        List<String> line =
                new ArrayList<>(List.of(product.home().resolve(script).toString()));
        line.addAll(List.of(words));
        return Command.run(directory, line);
    }

    /** Writes a configuration with init and starts it. */
    private MillraceProcess start(int http, int https) throws Exception {
        SelfSignedCertificate files = SelfSignedCertificate.write(directory, NAME);
        Path file = directory.resolve("millrace.yaml");
        Command written = millrace(
                        "init",
                        file.toString(),
                        "--site=" + NAME,
                        "--origin=" + origin.url(),
                        "--certificate=" + files.certificate(),
                        "--key=" + files.key(),
                        "--http=127.0.0.1:" + http,
                        "--https=127.0.0.1:" + https,
                        "--cache-size=64MiB")
                .succeeds();
        assertTrue(written.out().endsWith("Next: millrace run\n"), written::toString);
        Command checked = millrace("check", file.toString()).succeeds();
        assertEquals("", checked.err());
        return product.launch().listeningByFile(http).config(file).start();
    }

    @Test
    void initWritesAFileThatServesHttps() throws Exception {
        Assumptions.assumeTrue(Command.isInstalled("curl"), "SKIPPED: curl is not installed");
        origin.serves("/first", "over TLS", "Cache-Control: max-age=600");
        int http = FreePorts.next();
        int https = FreePorts.next();
        start(http, https);
        String resolved = NAME + ":" + https + ":127.0.0.1";
        Command page = Command.run(
                        directory,
                        List.of("curl", "-sk", "--resolve", resolved, "https://" + NAME + ":" + https + "/first"))
                .succeeds();
        assertEquals("over TLS", page.out());
        Command redirect = Command.run(
                        directory, List.of("curl", "-si", "-H", "Host: " + NAME, "http://127.0.0.1:" + http + "/first"))
                .succeeds();
        assertTrue(redirect.out().startsWith("HTTP/1.1 301 "), redirect::toString);
    }

    @Test
    void runWithoutAConfigurationNamesTheNextStep() {
        Command run = millrace("run", "--state", directory.resolve("s").toString());
        assertEquals(2, run.exitCode(), run::toString);
        assertTrue(run.err().contains("  write one:       millrace init"), run::toString);
        assertFalse(run.err().contains("\tat "), run::toString);
    }

    @Test
    void bundleHasTheStateOfTheRunningProxyAndIsPrivate() throws Exception {
        Assumptions.assumeTrue(Command.isInstalled("tar"), "SKIPPED: tar is not installed");
        MillraceProcess proxy = product.launch().origin(origin.url()).start();
        Path archive = directory.resolve("bundle.tar.gz");
        Command made =
                proxy.millctl("support", "bundle", "--out", archive.toString()).succeeds();
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(archive)));
        String names = Command.run(directory, List.of("tar", "-tzf", archive.toString()))
                .succeeds()
                .out();
        for (String name : List.of(
                "README.txt",
                "api/status.json",
                "api/threads.json",
                "api/metrics.txt",
                "config/settings.txt",
                "process/" + proxy.pid() + "/limits.txt",
                "process/" + proxy.worker().pid() + "/command.txt",
                "os/limits.txt",
                "state/files.txt")) {
            assertTrue(names.contains("/" + name + "\n"), () -> name + " is missing in\n" + names + made);
        }
    }

    @Test
    void shellRunsTheLinesOfItsInput() throws Exception {
        MillraceProcess proxy = product.launch().origin(origin.url()).start();
        Path lines = Files.writeString(directory.resolve("lines"), "status\nmemory -o json\n");
        String shell = product.home().resolve("bin/millctl") + " shell --admin " + proxy.state() + " < " + lines;
        Command run = Command.run(directory, List.of("sh", "-c", shell)).succeeds();
        assertTrue(run.out().contains("is running") && run.out().contains("{"), run::toString);
    }

    /** Keys on a terminal, which script(1) provides: Tab completes the command. */
    @Test
    void shellCompletesOnATerminal() throws Exception {
        Assumptions.assumeTrue(Command.isInstalled("script"), "SKIPPED: script is not installed");
        MillraceProcess proxy = product.launch().origin(origin.url()).start();
        Path keys = Files.writeString(directory.resolve("keys"), "stat\t\nexit\n");
        String shell = product.home().resolve("bin/millctl") + " shell --admin " + proxy.state();
        Command run = Command.run(
                        directory, directory, List.of("sh", "-c", "script -qec '" + shell + "' /dev/null < " + keys))
                .succeeds();
        String plain = run.out().replaceAll("\u001b\\[[0-9;]*[A-Za-z]", "");
        assertTrue(plain.contains("is running"), run::toString);
        Path history = directory.resolve("millrace/shell_history");
        assertEquals("status\nexit\n", Files.readString(history), run::toString);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(history)));
    }
}
