package io.millrace.cli.render;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class PrintableTest {
    @Test
    void letsNothingSteerTheTerminal() {
        assertEquals("\"v1\" ü €", Printable.of("\"v1\" ü €"));
        assertEquals("\\u001b[2J\\u000a\\u009b", Printable.of("\u001b[2J\n\u009b"));
        assertEquals("a\\u202egpj", Printable.of("a\u202egpj"));
    }
}
