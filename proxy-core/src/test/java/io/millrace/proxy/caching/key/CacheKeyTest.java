package io.millrace.proxy.caching.key;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.millrace.proxy.caching.Heads;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.TargetResult;
import io.millrace.proxy.http.TargetUri;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CacheKeyTest {

    private static final long SEED = 0x6e75L;

    @ParameterizedTest(name = "RFC 3986 6.2.2, RFC 9111 2: the key of {0} is {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "http://A.Example/x           | http://a.example/x",
                "http://a.example             | http://a.example/",
                "http://a.example:80/x        | http://a.example/x",
                "https://a.example:443/x      | https://a.example/x",
                "https://a.example:80/x       | https://a.example:80/x",
                "http://a.example:8080/x      | http://a.example:8080/x",
                "http://a.example:1/x         | http://a.example:1/x",
                "http://a.example:65535/x     | http://a.example:65535/x",
                "http://[::AB]:81/x           | http://[::ab]:81/x",
                "http://a/%7Ex%41%2d%5f%30    | http://a/~xA-_0",
                "http://a/%2fx%3a%c3%A9       | http://a/%2Fx%3A%C3%A9",
                "http://a/%2e%2E/x            | http://a/%2E%2E/x",
                "http://a/./../x//y           | http://a/./../x//y",
                "http://a/%25%37e             | http://a/%257e",
                "http://a/%zz%41              | http://a/%zz%41",
                "http://a/%41%4               | http://a/%41%4",
                "http://a/%%32f               | http://a/%%32f",
                "http://a/x?%7e=%2f&b         | http://a/x?%7e=%2f&b",
                "http://a/x?                  | http://a/x?",
                "http://a?q                   | http://a/?q"
            })
    void isTheUrlInNormalForm(String uri, String key) {
        assertEquals(key, CacheKey.of(Heads.target(uri)).asString());
    }

    @ParameterizedTest
    @CsvSource({
        "http://A.Example/x?y, a.example",
        "https://a.example:8080/, a.example:8080",
        "http://[::AB]:81/x, [::ab]:81"
    })
    void hostOfAKey(String uri, String host) {
        assertEquals(host, CacheKey.hostOf(key(uri).getBytes(ISO_8859_1)));
    }

    @Test
    void hostOfOtherBytes() {
        for (String bytes : new String[] {"", "/", "//", "http:", "http:/", "http:///x"}) {
            assertEquals("", CacheKey.hostOf(bytes.getBytes(ISO_8859_1)));
        }
    }

    @Test
    void originFormAndAbsoluteFormShareTheKey() {
        FieldSection fields = FieldSection.builder().add("Host", "A.example").build();
        TargetResult target = TargetUri.parse(Method.GET, "/x?y", fields, 1, false);
        assertEquals(CacheKey.of(Heads.target("http://a.example:80/x?y")), CacheKey.of((TargetUri) target));
    }

    @Test
    void pathsThatAnOriginMayDistinguishHaveDifferentKeys() {
        assertNotEquals(key("http://a/x"), key("http://a/X"));
        assertNotEquals(key("http://a/x"), key("http://a/x/"));
        assertNotEquals(key("http://a/x"), key("http://a/x?"));
        assertNotEquals(key("http://a/x"), key("https://a/x"));
        assertNotEquals(key("http://a/a/../x"), key("http://a/x"));
        assertNotEquals(key("http://a/%2e%2e/x"), key("http://a/../x"));
        assertNotEquals(key("http://a/a%2Fx"), key("http://a/a/x"));
        assertNotEquals(key("http://a/a%3Fx"), key("http://a/a?x"));
        assertNotEquals(key("http://a/a%%32Fx"), key("http://a/a%2Fx"));
    }

    @Test
    void aKeyIsItsOwnKeyAndFitsItsBound() {
        Random random = new Random(SEED);
        String alphabet = "aB%4f7E2?/.~:";
        for (int round = 0; round < 20_000; round++) {
            StringBuilder uri = new StringBuilder("http://h:")
                    .append(1 + random.nextInt(65_535))
                    .append('/');
            for (int i = random.nextInt(16); i > 0; i--) {
                uri.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            TargetUri target = Heads.target(uri.toString());
            byte[] scratch = new byte[CacheKey.lengthMax(target) + 3];
            int end = CacheKey.encode(target, scratch, 3);
            String key = new String(scratch, 3, end - 3, ISO_8859_1);
            assertEquals(key, CacheKey.of(target).asString(), "seed " + SEED + " round " + round);
            assertEquals(key, key(key), "seed " + SEED + " round " + round + ": " + uri);
        }
    }

    private static String key(String uri) {
        return CacheKey.of(Heads.target(uri)).asString();
    }
}
