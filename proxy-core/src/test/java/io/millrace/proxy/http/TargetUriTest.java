package io.millrace.proxy.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TargetUriTest {

    private static final long SEED = 0x7a59e7L;

    @ParameterizedTest(name = "RFC 9112 3.2: {0} {1} with Host {2} is {3}")
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "GET     | /                        | a.example        | http://a.example/",
                "GET     | /x?y                     | A.Example:80     | http://a.example/x?y",
                "GET     | /x?                      | a.example:       | http://a.example/x?",
                "GET     | /x                       | a.example:0080   | http://a.example/x",
                "GET     | //x//y                   | a.example:8080   | http://a.example:8080//x//y",
                "GET     | /%7e/../a                | a.example        | http://a.example/%7e/../a",
                "GET     | /a:b@c                   | [2001:DB8::1]:81 | http://[2001:db8::1]:81/a:b@c",
                "GET     | http://b.example         | a.example        | http://b.example/",
                "GET     | http://b.example?q       | a.example        | http://b.example/?q",
                "GET     | HTTPS://B.example:443/p  | a.example        | https://b.example/p",
                "GET     | http://b.example:8/?a/b  | a.example        | http://b.example:8/?a/b",
                "OPTIONS | *                        | a.example        | http://a.example",
                "CONNECT | a.example:443            | a.example        | http://a.example:443",
                "GET     | /x                       | xn--bcher-kva_1  | http://xn--bcher-kva_1/x",
                "GET     | /x                       | 127.0.0.1        | http://127.0.0.1/x",
                "GET     | /x                       | a%41b            | http://a%41b/x"
            })
    void reads(String method, String target, String host, String uri) {
        assertEquals(uri, parse(method, target, 1, host).toString());
    }

    @ParameterizedTest(name = "RFC 9112 3.2: {0} {1} with Host {2} is refused: {3}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "GET     | *                    | a        | FORM",
                "GET     | a.example            | a        | FORM",
                "GET     | ftp://a/             | a        | SCHEME",
                "GET     | http:///x            | a        | HOST",
                "GET     | http://u@a/          | a        | USERINFO",
                "GET     | http://u:p@a/        | a        | USERINFO",
                "GET     | /x#y                 | a        | BYTE",
                "GET     | http://a#y           | a        | BYTE",
                "GET     | http://a:0/          | a        | PORT",
                "GET     | http://a:65536/      | a        | PORT",
                "GET     | http://a:1x/         | a        | PORT",
                "GET     | http://a\\b/         | a        | HOST",
                "GET     | /                    | a b      | HOST",
                "GET     | /                    | a/b      | HOST",
                "GET     | /                    | u@a      | USERINFO",
                "GET     | /                    | a:b:1    | PORT",
                "GET     | /                    | [::1     | HOST",
                "GET     | /                    | [::1]x   | HOST",
                "GET     | /                    | [1]      | HOST",
                "GET     | /                    | [::1%25e]| HOST",
                "GET     | /                    | ::1      | PORT",
                "GET     | /                    | :80      | HOST",
                "GET     | /                    | a%4      | HOST",
                "GET     | /                    | a%zz     | HOST",
                "GET     | /                    | a\u00e9  | HOST",
                "GET     | /                    | ~~       | HOST",
                "GET     | http://a/            | b c      | HOST",
                "CONNECT | a.example            | a        | PORT",
                "CONNECT | /x                   | a        | HOST",
                "CONNECT | :443                 | a        | HOST"
            })
    void refuses(String method, String target, String host, TargetProblem problem) {
        assertEquals(problem, parse(method, target, 1, host));
    }

    @Test
    void bytesThatCannotStandInATargetAreRefused_rfc9112_s3_2() {
        for (int c = 0; c < 256; c++) {
            byte[] bytes = {'/', (byte) c, 'x'};
            FieldSection fields = FieldSection.builder().add("Host", "a").build();
            TargetResult result = TargetUri.parse(Method.GET, bytes, 0, bytes.length, fields, 1, false);
            boolean refused = c <= ' ' || c >= 127 || c == '#';
            assertEquals(refused || c == '\\', result == TargetProblem.BYTE, "byte " + c);
            byte[] query = {'/', '?', (byte) c, 'x'};
            result = TargetUri.parse(Method.GET, query, 0, query.length, fields, 1, false);
            assertEquals(refused, result == TargetProblem.BYTE, "byte in the query " + c);
        }
    }

    @Test
    void hostIsRequiredOnceInHttp11AndMayLackInHttp10() {
        assertEquals(
                TargetProblem.HOST_MISSING, TargetUri.parse(Method.GET, "http://a/", FieldSection.EMPTY, 1, false));
        FieldSection twice =
                FieldSection.builder().add("Host", "a").add("host", "a").build();
        assertEquals(TargetProblem.HOST_REPEATED, TargetUri.parse(Method.GET, "/", twice, 1, false));
        assertEquals(TargetProblem.HOST_REPEATED, TargetUri.parse(Method.GET, "/", twice, 0, false));
        TargetUri without = assertTarget(TargetUri.parse(Method.GET, "/x", FieldSection.EMPTY, 0, true));
        assertEquals("", without.host());
        assertEquals(443, without.port());
    }

    @Test
    void partsAreThoseThatTheClientSent() {
        TargetUri target = assertTarget(parse("GET", "/A%2f?B=%zz?", 1, "Host.Example:81"));
        assertEquals(TargetUri.Form.ORIGIN, target.form());
        assertEquals("http", target.scheme());
        assertEquals("host.example", target.host());
        assertEquals(81, target.port());
        assertEquals("host.example:81", target.authority());
        assertEquals("/A%2f", target.path());
        assertEquals("B=%zz?", target.query());
        assertEquals("/A%2f?B=%zz?", target.pathAndQuery());
        assertTrue(target.hasQuery());
        TargetUri plain = assertTarget(parse("GET", "/A", 1, "a"));
        assertNull(plain.query());
        assertFalse(plain.hasQuery());
        assertTrue(plain.isDefaultPort());
        TargetUri empty = assertTarget(parse("GET", "/A?", 1, "a"));
        assertEquals("", empty.query());
    }

    @ParameterizedTest(name = "RFC 3986 5.4: {0} against http://a/b/c/d;p?q is {1}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "g             | http://a/b/c/g",
                "./g           | http://a/b/c/g",
                "g/            | http://a/b/c/g/",
                "/g            | http://a/g",
                "//g           | http://g/",
                "?y            | http://a/b/c/d;p?y",
                "g?y           | http://a/b/c/g?y",
                "#s            | http://a/b/c/d;p?q",
                "g#s           | http://a/b/c/g",
                "g?y#s         | http://a/b/c/g?y",
                ";x            | http://a/b/c/;x",
                "~~            | http://a/b/c/d;p?q",
                ".             | http://a/b/c/",
                "./            | http://a/b/c/",
                "..            | http://a/b/",
                "../g          | http://a/b/g",
                "../..         | http://a/",
                "../../../g    | http://a/g",
                "/./g          | http://a/g",
                "/../g         | http://a/g",
                "g.            | http://a/b/c/g.",
                "..g           | http://a/b/c/..g",
                "./../g        | http://a/b/g",
                "g/./h         | http://a/b/c/g/h",
                "g/../h        | http://a/b/c/h",
                "g?y/../x      | http://a/b/c/g?y/../x",
                "http://x/..   | http://x/",
                "https://a     | https://a/"
            })
    void resolvesReferences(String reference, String expected) {
        TargetUri base = assertTarget(TargetUri.parseAbsolute("http://a/b/c/d;p?q"));
        TargetUri resolved = base.resolve(reference);
        assertNotNull(resolved);
        assertEquals(expected, resolved.asString());
    }

    @ParameterizedTest(name = "RFC 3986 5.2: {0} is no http URI")
    @ValueSource(strings = {"mailto:a@b", "ftp://a/", "http:g", "/a b", "http://u@a/", "http://", "javascript://x"})
    void referencesToOtherSchemesResolveToNothing(String reference) {
        assertNull(assertTarget(TargetUri.parseAbsolute("http://a/")).resolve(reference));
    }

    @Test
    void sameOriginComparesSchemeHostAndPort() {
        TargetUri base = assertTarget(TargetUri.parseAbsolute("http://a/x"));
        assertTrue(base.isSameOrigin(assertTarget(TargetUri.parseAbsolute("http://A:80/y"))));
        assertFalse(base.isSameOrigin(assertTarget(TargetUri.parseAbsolute("https://a:80/x"))));
        assertFalse(base.isSameOrigin(assertTarget(TargetUri.parseAbsolute("http://a:81/x"))));
        assertFalse(base.isSameOrigin(assertTarget(TargetUri.parseAbsolute("http://b/x"))));
    }

    @Test
    void parsedTargetsParseToTheSameFromTheirText() {
        Random random = new Random(SEED);
        byte[] alphabet = "htps:/@[]aB%41.?#:80*\u00e9 ".getBytes(ISO_8859_1);
        int read = 0;
        for (int round = 0; round < 60_000; round++) {
            StringBuilder text = new StringBuilder(random.nextBoolean() ? "http://" : "/");
            for (int i = random.nextInt(10); i > 0; i--) {
                text.append((char) (alphabet[random.nextInt(alphabet.length)] & 0xff));
            }
            TargetResult result = parse("GET", text.toString(), 1, "h:8");
            if (result instanceof TargetUri target) {
                read++;
                TargetUri again = assertTarget(TargetUri.parseAbsolute(target.asString()));
                assertEquals(target.asString(), again.asString(), "seed " + SEED + " round " + round);
                assertEquals(target.pathAndQuery(), again.pathAndQuery(), "seed " + SEED + " round " + round);
            }
        }
        assertTrue(read > 5_000, "only " + read + " targets were read");
    }

    private static TargetResult parse(String method, String target, int minorVersion, String host) {
        FieldSection fields = FieldSection.builder().add("Host", host).build();
        return TargetUri.parse(Method.of(method), target, fields, minorVersion, false);
    }

    private static TargetUri assertTarget(TargetResult result) {
        assertTrue(result instanceof TargetUri, () -> "refused: " + result);
        return (TargetUri) result;
    }
}
