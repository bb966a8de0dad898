package io.millrace.launcher.init;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.tls.TestAuthority;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Tests {@code millrace init} with options and with answers: its file passes the check without a warning. */
class InitCommandTest {
    private static final TestAuthority AUTHORITY = new TestAuthority("init");
    private static TestAuthority.Made made;

    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private Path file;
    private Path chain;
    private Path key;

    @BeforeAll
    static void makeCertificate() {
        made = AUTHORITY.issue("www.example.com", "*.shop.example");
    }

    @BeforeEach
    void writeCertificate() throws IOException {
        file = directory.resolve("millrace.yaml");
        chain = Files.writeString(directory.resolve("fullchain.pem"), made.chainPem());
        key = Files.writeString(directory.resolve("privkey.pem"), made.keyPem());
    }

    /** @param answers lines on the terminal; null if there is no terminal */
    private int init(String answers, String... words) {
        List<String> all = new ArrayList<>(List.of(words));
        all.add(file.toString());
        CommandLine line = new CommandLine(
                new InitCommand(() -> answers == null ? null : new BufferedReader(new StringReader(answers))));
        line.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        line.setExecutionExceptionHandler((exception, command, parsed) -> {
            if (exception instanceof LaunchException launch) {
                err.write(launch.getMessage());
                return launch.exitCode();
            }
            throw exception;
        });
        return line.execute(all.toArray(String[]::new));
    }

    private String checked() throws IOException {
        ConfigResult result = ConfigLoader.load(file, Map.of());
        assertEquals(List.of(), result.problems(), () -> result.text());
        return Files.readString(file);
    }

    @Test
    void optionsAloneMakeAFileForAutomaticCertificates() throws Exception {
        int code = init(
                null,
                "--site",
                "www.example.com",
                "--origin",
                "127.0.0.1:9000",
                "--accept-terms",
                "--cache-size=64MiB");
        assertEquals(ExitCode.OK, code, err::toString);
        String yaml = checked();
        assertTrue(yaml.contains("to: \"http://127.0.0.1:9000/\""), yaml);
        assertTrue(yaml.contains("accept_terms: true"), yaml);
        assertTrue(yaml.contains("size: 64MiB"), yaml);
        assertEquals("", err.toString());
        assertTrue(out.toString().endsWith("Next: millrace run --config " + file + "\n"), out::toString);
        assertTrue(out.toString().contains("1 site over HTTPS, automatic certificates\n"), out::toString);
    }

    @Test
    void severalSitesHaveTheirOwnOriginsAndCertificateFiles() throws Exception {
        int code = init(
                null,
                "--site=www.example.com=https://10.0.0.1:8443/app",
                "--site=a.shop.example",
                "--origin=http://10.0.0.2",
                "--certificate=" + chain,
                "--http=:8080",
                "--https=127.0.0.1:8443",
                "--cache-size=64MiB");
        assertEquals(ExitCode.OK, code, err::toString);
        String yaml = checked();
        assertTrue(yaml.contains("map: \"https://www.example.com/\"\n    to: \"https://10.0.0.1:8443/app\""), yaml);
        assertTrue(yaml.contains("map: \"https://a.shop.example:8443/\"\n    to: \"http://10.0.0.2/\""), yaml);
        assertTrue(yaml.contains("key: \"" + key + "\""), yaml);
        assertFalse(out.toString().contains("Ports below 1024"), out::toString);
    }

    @Test
    void aDirectoryOfCertificatesNeedsNoKey() throws Exception {
        int code = init(null, "--site=www.example.com", "--certificate=" + directory, "--yes", "--cache-size=64MiB");
        assertEquals(ExitCode.OK, code, err::toString);
        assertTrue(checked().contains("- directory: \"" + directory + "\""));
    }

    @Test
    void answersOnATerminalMakeTheFile() throws Exception {
        int code = init("www.example.com, b.example.com=http://10.0.0.9\n\nauto\nyes\n64MiB\n");
        assertEquals(ExitCode.OK, code, err::toString);
        String yaml = checked();
        assertTrue(yaml.contains("to: \"http://127.0.0.1:9000/\""), yaml);
        assertTrue(yaml.contains("map: \"https://b.example.com/\"\n    to: \"http://10.0.0.9/\""), yaml);
        assertTrue(out.toString().contains("5/5 Size of the cache on disk"), out::toString);
    }

    @Test
    void aWrongAnswerIsExplainedAndAskedAgain() throws Exception {
        Path apart = Files.writeString(directory.resolve("apart.crt"), made.chainPem());
        Files.delete(key);
        Path elsewhere = Files.writeString(directory.resolve("secret"), made.keyPem());
        int code = init("http://x/\nwww.example.com\nftp://x\n\nmaybe\nfiles\nnone.pem\n" + apart + "\n" + chain + "\n"
                + elsewhere + "\nbig\n64MiB\n");
        assertEquals(ExitCode.OK, code, err::toString);
        assertTrue(checked().contains("key: \"" + elsewhere + "\""));
        for (String said : List.of(
                "'http://x/' is not a host name",
                "the scheme 'ftp' is not supported",
                "'maybe' is not valid; expected auto or files",
                "none.pem: no such file",
                "'big' is not a size")) {
            assertTrue(out.toString().contains(said), () -> said + " is missing in\n" + out);
        }
    }

    @Test
    void withoutATerminalEveryMissingOptionIsNamed() {
        assertEquals(ExitCode.USAGE, init(null));
        assertTrue(err.toString().contains("--site NAME, --accept-terms (Let's Encrypt: https://"), err::toString);
        assertFalse(Files.exists(file));
    }

    @Test
    void theEndOfTheInputWritesNothing() {
        assertEquals(ExitCode.USAGE, init("www.example.com\n"));
        assertEquals("the input ended; nothing was written", err.toString());
        assertFalse(Files.exists(file));
    }

    @Test
    void refusedTermsWriteNothing() {
        assertEquals(ExitCode.USAGE, init("www.example.com\n\n\nno\n"));
        assertTrue(err.toString().contains("automatic certificates need the terms"), err::toString);
        assertFalse(Files.exists(file));
    }

    @Test
    void anExistingFileIsOverwrittenOnlyWithForce() throws Exception {
        Files.writeString(file, "mine");
        String[] words = {"--site=www.example.com", "--accept-terms", "--yes", "--cache-size=64MiB"};
        assertEquals(ExitCode.USAGE, init(null, words));
        assertTrue(err.toString().contains(file + " exists; name another file"), err::toString);
        assertEquals("mine", Files.readString(file));
        List<String> forced = new ArrayList<>(List.of(words));
        forced.add("--force");
        assertEquals(ExitCode.OK, init(null, forced.toArray(String[]::new)), err::toString);
        assertTrue(checked().contains("www.example.com"));
        assertFalse(Files.exists(directory.resolve(".millrace.yaml.new")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--site=localhost --accept-terms --yes               | not a public name such as www.example.com",
                "--site=10.0.0.1 --accept-terms --yes                | is an IP address",
                "--site=a.example,a.example --accept-terms --yes     | is listed twice",
                "--site=a.example --origin=ftp://x --accept-terms    | the scheme 'ftp' is not supported",
                "--site=a.example --http=80x --accept-terms --yes    | is not an address such as :8080",
                "--site=a.example --cache-size=9 --accept-terms --yes | has no unit",
                "--site=a.example --certificate=/none.pem --yes      | /none.pem: no such file",
                "--site=a.example --key=/none.pem --yes              | --key needs --certificate",
                "--site=a.example --accept-terms --email=me --yes    | is not an e-mail address"
            })
    void aWrongOptionIsRefused(String words, String said) {
        assertEquals(ExitCode.USAGE, init(null, words.split(" +", -1)), err::toString);
        assertTrue(err.toString().contains(said), err::toString);
        assertFalse(Files.exists(file));
    }

    @Test
    void certificatesForOtherNamesAndTimesAreReported() throws Exception {
        TestAuthority.Made later = AUTHORITY.issue(
                TestAuthority.rsaKeys(),
                Instant.parse("2040-01-01T00:00:00Z"),
                Instant.parse("2050-01-01T00:00:00Z"),
                "other.example");
        Files.writeString(chain, later.chainPem());
        Files.writeString(key, later.keyPem());
        int code = init(null, "--site=www.example.com", "--certificate=" + chain, "--yes", "--cache-size=64MiB");
        assertEquals(ExitCode.OK, code, err::toString);
        assertTrue(
                err.toString().contains("is not valid before 2040-01-01T00:00:00Z; the clock of this"), err::toString);
        assertTrue(err.toString().contains("is not for www.example.com, but for other.example"), err::toString);
    }

    @Test
    void anExpiredCertificateIsRefused() throws Exception {
        TestAuthority.Made past = AUTHORITY.issue(
                TestAuthority.rsaKeys(),
                Instant.parse("2020-01-01T00:00:00Z"),
                Instant.parse("2021-01-01T00:00:00Z"),
                "www.example.com");
        Files.writeString(chain, past.chainPem());
        Files.writeString(key, past.keyPem());
        assertEquals(ExitCode.USAGE, init(null, "--site=www.example.com", "--certificate=" + chain, "--yes"));
        assertTrue(err.toString().contains("has expired on 2021-01-01T00:00:00Z; renew it; nothing"), err::toString);
    }

    @Test
    void aMissingDirectoryIsNamedWithTheRemedy() {
        file = directory.resolve("none/millrace.yaml");
        assertEquals(ExitCode.FAILED, init(null, "--yes"));
        assertTrue(err.toString().contains("mkdir -p " + directory.resolve("none")), err::toString);
    }

    @Test
    void proposedSizesFitTheDisk() {
        assertEquals("10GiB", CacheSizeProposal.size(-1));
        assertEquals("10GiB", CacheSizeProposal.size(100L << 30));
        assertEquals("4GiB", CacheSizeProposal.size(9L << 30));
        assertEquals("512MiB", CacheSizeProposal.size(1L << 30));
        assertEquals("64MiB", CacheSizeProposal.size(0));
    }
}
