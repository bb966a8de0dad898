package io.millrace.cli.render;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

final class PrintableTest {
    @Test
    void letsNothingSteerTheTerminal() {
        assertEquals("\"v1\" ü €", Printable.of("\"v1\" ü €"));
        assertEquals("\\u001b[2J\\u000a\\u009b", Printable.of("\u001b[2J\n\u009b"));
        assertEquals("a\\u202egpj", Printable.of("a\u202egpj"));
        assertEquals("a\\u061c\\u200b\\u2028b", Printable.of("a\u061c\u200b\u2028b"));
    }

    @Test
    void jsonMeansTheSameAndSteersNoTerminal() {
        String json = "{\"url\":\"a\u009b31m\u007f\u202e\u2028\u00e9\ud83d\ude00\"}\n";
        String safe = new String(Printable.json(json.getBytes(UTF_8)), UTF_8);
        assertEquals("{\"url\":\"a\\u009b31m\\u007f\\u202e\\u2028\u00e9\ud83d\ude00\"}\n", safe);
        byte[] harmless = "{\n\t\"a\": \"\u00e9\"\r\n}".getBytes(UTF_8);
        assertSame(harmless, Printable.json(harmless));
    }
}
