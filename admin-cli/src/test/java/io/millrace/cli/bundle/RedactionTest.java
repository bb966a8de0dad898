package io.millrace.cli.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that no secret stays in the texts of a support bundle, and that the rest stays readable. */
class RedactionTest {
    private final Redaction redaction = new Redaction(new AddressHash());

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "password: hunter2                          | password: [redacted]",
                "  api_key: \"a b, c\"  # mine              | api_key: [redacted]  # mine",
                "{name: x, token: abc, role: viewer}        | {name: x, token: [redacted], role: viewer}",
                "{\"token\":\"abc\",\"role\":\"v\"}         | {\"token\":[redacted],\"role\":\"v\"}",
                "-Ddb.password=hunter2                      | -Ddb.password=[redacted]",
                "Authorization: Bearer abc def              | Authorization: [redacted]",
                "PGPASSWORD=hunter2                         | PGPASSWORD=[redacted]",
                "to: http://me:hunter2@a.example/x          | to: http://[redacted]@a.example/x",
                "to: http://me:p@ss@a.example               | to: http://[redacted]@a.example",
                "x: 0123456789abcdef0123456789abcdef        | x: [redacted]"
            })
    void secretsAreRemoved(String text, String expected) {
        assertEquals(expected, redaction.text(text).strip());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "admin: {token_file: /etc/millrace/operator.token}",
                "  token_file: /etc/millrace/a.token",
                "tokens:",
                "tokens: [{name: shop, file: /etc/shop.token}]",
                "to: http://127.0.0.1:9000/a@b",
                "storage: [{path: /var/cache/millrace, size: 10GiB}]",
                "map: https://www.example.com/"
            })
    void filesAndOrdinarySettingsStay(String text) {
        assertEquals(text, redaction.text(text));
    }

    @Test
    void keysInPemAreRemovedAsAWhole() {
        String pem = "key: |\n  -----BEGIN PRIVATE KEY-----\n  MIGHAgEA\n  -----END PRIVATE KEY-----\nnext: 1\n";
        assertEquals("key: |\n  [redacted]\nnext: 1\n", redaction.text(pem));
        assertTrue(redaction.report().contains("keys and certificates in PEM: 1"), redaction.report()::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"|", "|-", ">", ""})
    void valuesOnTheNextLinesAreRemoved(String mark) {
        String yaml = "a:\n  password: " + mark + "\n    hunter2\n    more\n  other: 1\nlast: 2\n";
        String safe = redaction.text(yaml);
        assertFalse(safe.contains("hunter2") || safe.contains("more"), safe);
        assertTrue(safe.contains("  other: 1\nlast: 2\n"), safe);
    }

    @Test
    void sectionsBelowASecretNameStayReadable() {
        String yaml = "admin:\n  tokens:\n    - name: shop\n      file: /etc/shop.token\n";
        assertEquals(yaml, redaction.text(yaml));
        assertEquals("secret: [redacted]\n  [redacted]\n", redaction.text("secret: |\n  a: b\n"));
    }

    @Test
    void logsLoseQueriesAndAddresses() {
        String line =
                "1763820000.123 5 203.0.113.7 TCP_MISS/200 9 GET http://a.example/p?user=me&id=7 - DIRECT/10.0.0.9 x\n";
        String safe = redaction.log(line + line);
        assertFalse(safe.contains("203.0.113.7"), safe);
        assertFalse(safe.contains("user=me"), safe);
        assertTrue(safe.startsWith("1763820000.123 5 ip-"), safe);
        assertTrue(safe.contains("GET http://a.example/p?[redacted] - DIRECT/ip-"), safe);
        List<String> lines = safe.lines().toList();
        assertEquals(lines.get(0), lines.get(1));
        assertTrue(redaction.report().contains("addresses in logs, as salted hashes: 4"), redaction.report()::toString);
        assertNotEquals(safe, new Redaction(new AddressHash()).log(line + line));
    }

    @Test
    void addressesCanBeKept() {
        Redaction keeping = new Redaction(null);
        assertEquals("203.0.113.7 - -\n", keeping.log("203.0.113.7 - -\n"));
        assertTrue(keeping.report().contains("addresses in logs: kept (--with-addresses)"));
    }

    @ParameterizedTest
    @CsvSource({
        "203.0.113.7:5000, :5000",
        "[2001:db8::1]:80, ]:80",
        "2001:db8:0:0:0:0:0:1, ''",
        "::ffff:203.0.113.7, ''",
        "fe80::1, ''",
        "client=203.0.113.7., ."
    })
    void everyFormOfAnAddressIsHashed(String text, String end) {
        String safe = new AddressHash().hashed(text);
        assertTrue(safe.contains("ip-"), safe);
        assertTrue(safe.endsWith(end), safe);
        assertFalse(safe.contains("203.0") || safe.contains("db8") || safe.contains("fe80"), safe);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1:8080",
                "[::1]:80",
                "2026-11-22T10:00:00Z",
                "10:00:00",
                "1763820000.123",
                "version 1.2.3",
                "1.2.3.4.5",
                "256.1.1.1",
                "v1.2.3.4-rc",
                "at Foo.java:12",
                "::"
            })
    void otherTextsAreNoAddresses(String text) {
        assertEquals(text, new AddressHash().hashed(text));
    }

    @Test
    void dataKeepsFingerprints() {
        String json = "{\"sha256\":\"0123456789abcdef0123456789abcdef\",\"secret\":\"x\"}";
        assertEquals("{\"sha256\":\"0123456789abcdef0123456789abcdef\",\"secret\":[redacted]}", redaction.data(json));
    }
}
