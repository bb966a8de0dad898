package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.cli.command.ProcessEnvironment;
import io.millrace.cli.sign.UrlSigner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The expected signatures are those of SignedUrlTest in proxy-core. */
final class SignCommandTest {
    private static final long END = 4_102_444_800L;

    @TempDir
    Path directory;

    private Path keys;

    @BeforeEach
    void writeKeys() throws Exception {
        keys = Files.writeString(directory.resolve("keys"), """
                # a comment
                key3 = secret
                player = hmac-sha256:TWlsbHJhY2UgdXNlcyB0aGlzIGtleSBpbiBkb2NzLg==
                error_url = 403
                """);
    }

    private Run sign(String... arguments) {
        String[] all = new String[arguments.length + 3];
        all[0] = "sign";
        all[1] = "--keys";
        all[2] = keys.toString();
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        return Run.of(new ProcessEnvironment(Map.of(), Path.of("/"), Path.of("/"), null, false), all);
    }

    @Test
    void signaturesEqualThoseOfTheProxy() throws Exception {
        UrlSigner signer = UrlSigner.of(keys);
        String url = "http://a.example/v/1.mp4";
        assertEquals(
                url + "?E=4102444800&A=1&K=3&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
                signer.sign(url, "3", new UrlSigner.Terms(END, null, "1", false, null)));
        assertEquals(
                url + "?q=1&C=127.0.0.1&E=4102444800&A=2&K=3&P=011&S=1d670fd2d6e8b129d1ca8dfed280af70",
                signer.sign(url + "?q=1", "3", new UrlSigner.Terms(END, "127.0.0.1", "011", true, null)));
        assertEquals(
                url + "?q=1&mr-expires=4102444800&mr-key=player"
                        + "&mr-signature=EtU0eXaUu83lKjJc07g2A_jBy9qZZ8hJQrl3c7HcLtw",
                signer.sign(url + "?q=1", "player", new UrlSigner.Terms(END, null, "1", false, null)));
        assertEquals(
                url + "?mr-expires=4102444800&mr-key=player&mr-prefix=/v/"
                        + "&mr-signature=kt4S6BJoFptIGojRLBcsoetekKCQEtuCY-Abp5zKg3c",
                signer.sign(url, "player", new UrlSigner.Terms(END, null, "1", false, "/v/")));
    }

    @Test
    void printsTheUrl() {
        Run run = sign("--key", "player", "--expires", "7d", "http://a.example/v");
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().startsWith("http://a.example/v?mr-expires="), run.out());
        Run first = sign("-o", "json", "http://a.example/v");
        assertTrue(first.out().startsWith("{\"url\":\"http://a.example/v?E="), first.out());
        assertTrue(first.out().contains("\"key\":\"3\""), first.out());
    }

    @Test
    void aNewKeyCanBeUsed() throws Exception {
        Run run = sign("--new-key", "fresh");
        assertTrue(run.out().startsWith("fresh = hmac-sha256:"), run.out());
        Files.writeString(keys, run.out());
        assertEquals(0, sign("http://a.example/").exitCode());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "http://a/ --key 4            # no key is named 4; known: 3, player",
                "a                            # 'a' is not a URL with http:// or https://",
                "http://a/ --expires 5        # --expires '5' is not a time of 1s to 366d",
                "http://a/ --expires 400d     # --expires '400d' is not a time of 1s to 366d",
                "http://a/ --prefix /a        # --prefix needs a key with a name",
                "http://a/ --key player --md5 # --parts and --md5 are for keys with a number",
                "http://a/ --parts 2          # --parts '2' has a digit other than 0 and 1",
                "http://a/ --parts 0          # --parts 0 signs no part of the URL",
                "--new-key a/b                # 'a/b' is not a name of 1 to 64 letters",
            })
    void wrongOptionsAreExplained(String arguments, String message) {
        Run run = sign(arguments.strip().split(" "));
        assertEquals(2, run.exitCode());
        assertTrue(run.err().startsWith("millctl: " + message), run.err());
    }
}
