package io.millrace.proxy.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.guard.SigningKeys;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.http.IpAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Signatures computed with Python's hmac, by the description of url_sig and of the guide. */
class SignedUrlTest {
    private static final String KEYS = """
            # keys of a test
            key3 = secret
            player = hmac-sha256:TWlsbHJhY2UgdXNlcyB0aGlzIGtleSBpbiBkb2NzLg==
            error_url = 403
            """;

    private static final IpAddress CLIENT = IpAddress.of(new byte[] {127, 0, 0, 1});

    @TempDir
    Path directory;

    private SigningKeys keys(String text) throws Exception {
        return SigningKeys.parse(LoadedFile.read(Files.writeString(directory.resolve("keys"), text)));
    }

    private SignedUrl.Result verify(String url) throws Exception {
        return new SignedUrl().verify(keys(KEYS), url, CLIENT, 1_800_000_000L);
    }

    @ParameterizedTest
    @CsvSource({
        "'', http://a.example/v/1.mp4?E=4102444800&A=1&K=3&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "q=1, http://a.example/v/1.mp4?q=1&C=127.0.0.1&E=4102444800&A=2&K=3&P=011&S=1d670fd2d6e8b129d1ca8dfed280af70",
        "q=1, http://other.example/v/1.mp4?q=1&C=127.0.0.1&E=4102444800&A=2&K=3&P=011&S=1d670fd2d6e8b129d1ca8dfed280af70",
        "q=1, http://a.example/v/1.mp4?q=1&mr-expires=4102444800&mr-key=player&mr-signature=EtU0eXaUu83lKjJc07g2A_jBy9qZZ8hJQrl3c7HcLtw",
        "x=y, http://a.example/v/any?x=y&mr-expires=4102444800&mr-key=player&mr-prefix=/v/&mr-signature=kt4S6BJoFptIGojRLBcsoetekKCQEtuCY-Abp5zKg3c",
    })
    void validSignaturesAreRemovedFromTheQuery(String query, String url) throws Exception {
        SignedUrl signed = new SignedUrl();
        assertEquals(SignedUrl.Result.VALID, signed.verify(keys(KEYS), url, CLIENT, 1_800_000_000L));
        assertEquals(query, signed.unsignedQuery());
    }

    @ParameterizedTest
    @CsvSource({
        "MISSING, http://a.example/v/1.mp4",
        "MISSING, http://a.example/v/1.mp4?q=1",
        "EXPIRED, http://a.example/v/1.mp4?E=1000000000&A=1&K=3&P=1&S=74790a6876e0b423e4ba0ef18af5023224bae3cf",
        "SIGNATURE, http://a.example/v/2.mp4?E=4102444800&A=1&K=3&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "SIGNATURE, http://b.example/v/1.mp4?E=4102444800&A=1&K=3&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "SIGNATURE, http://a.example/v/1.mp4?E=4102444801&A=1&K=3&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "SIGNATURE, http://a.example/v/1.mp4?a=b&E=4102444800&A=1&K=3&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "SIGNATURE, http://a.example/v/1.mp4?E=4102444800&A=1&K=3&P=1&S=5b41bf7f",
        "MALFORMED, http://a.example/v/1.mp4?E=4102444800&A=3&K=3&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "MALFORMED, http://a.example/v/1.mp4?E=4102444800&A=1&K=3&P=0&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "MALFORMED, http://a.example/v/1.mp4?E=4102444800&A=1&K=3&P=x&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "MALFORMED, http://a.example/v/1.mp4?E=x&A=1&K=3&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "MALFORMED, http://a.example/v/1.mp4?A=1&K=3&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "MALFORMED, http://a.example/v/1.mp4?E=4102444800&A=1&K=3&P=1&S=zz",
        "KEY, http://a.example/v/1.mp4?E=4102444800&A=1&K=4&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "KEY, http://a.example/v/1.mp4?E=4102444800&A=1&K=99999999999&P=1&S=5b41bf7f0ce6e90d3cefa036b20aef2bd5ec256e",
        "KEY, http://a.example/v/1.mp4?mr-expires=4102444800&mr-key=other&mr-signature=AAAA",
        "CLIENT, http://a.example/v/1.mp4?mr-expires=4102444800&mr-key=player&mr-client=10.0.0.9&mr-signature=iElckigf9AimYbfOUqpPdoqpqs8dNC2oB1tkZg2fhjg",
        "PREFIX, http://a.example/w/1?mr-expires=4102444800&mr-key=player&mr-prefix=/v/&mr-signature=kt4S6BJoFptIGojRLBcsoetekKCQEtuCY-Abp5zKg3c",
        "PREFIX, http://a.example/v/../w?mr-expires=4102444800&mr-key=player&mr-prefix=/v/&mr-signature=kt4S6BJoFptIGojRLBcsoetekKCQEtuCY-Abp5zKg3c",
        "PREFIX, http://a.example/v/%2E%2e/w?mr-expires=4102444800&mr-key=player&mr-prefix=/v/&mr-signature=kt4S6BJoFptIGojRLBcsoetekKCQEtuCY-Abp5zKg3c",
        "SIGNATURE, http://a.example/w/1?mr-expires=4102444800&mr-key=player&mr-prefix=/&mr-signature=kt4S6BJoFptIGojRLBcsoetekKCQEtuCY-Abp5zKg3c",
        "MALFORMED, http://a.example/v/1?mr-key=player&mr-expires=4102444800&mr-signature=AAAA",
        "MALFORMED, http://a.example/v/1?mr-expires=4102444800&mr-key=player&mr-signature=*",
    })
    void invalidSignaturesHaveAReason(SignedUrl.Result reason, String url) throws Exception {
        assertEquals(reason, verify(url));
    }

    @Test
    void aChangedCharacterIsAlwaysRefused() throws Exception {
        String url = "http://a.example/v/1.mp4?q=1&mr-expires=4102444800&mr-key=player"
                + "&mr-signature=EtU0eXaUu83lKjJc07g2A_jBy9qZZ8hJQrl3c7HcLtw";
        assertEquals(SignedUrl.Result.VALID, verify(url));
        for (int i = "http://".length(); i < url.length() - 1; i++) {
            char other = url.charAt(i) == 'z' ? 'y' : 'z';
            String changed = url.substring(0, i) + other + url.substring(i + 1);
            assertTrue(verify(changed) != SignedUrl.Result.VALID, changed);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "key16 = a             # :1: 'key16' is none of key0 to key15",
                "key1 a                # :1: is not of the form NAME = VALUE",
                "key1 =                # :1: key1 has no value",
                "sig_anchor = x        # :1: sig_anchor: signatures in path parameters are not supported",
                "excl_regex = (        # :1: excl_regex is no expression in RE2 syntax",
                "error_url = 301 /a    # :1: error_url must be 403, or 302 and a URL",
                "a = hmac-sha256:AAAA  # :1: a has 3 bytes, which is below the limit of 16",
                "a = hmac-sha256:*     # :1: a is not in Base64",
                "error_url = 403       # : has no key, such as key0 = SECRET",
            })
    void faultsOfFilesHaveTheirLine(String line, String message) {
        InvalidValueException e = assertThrows(InvalidValueException.class, () -> keys(line + "\n"));
        assertTrue(e.problem().startsWith(directory.resolve("keys") + message), e.problem());
    }
}
