package io.millrace.cli.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class CheckLineTest {
    @Test
    void takesALineApart() {
        String text = "conf/millrace.yaml:12:7: cache.ram_szie: unknown key (did you mean ram_size?)";
        assertEquals(
                new CheckLine("conf/millrace.yaml", 12, 7, "cache.ram_szie", "unknown key", "ram_size", text),
                CheckLine.parse(text));
    }

    @Test
    void keepsMissingPartsEmpty() {
        assertEquals(
                new CheckLine("x.yaml", 0, 0, "", "no such file", null, "x.yaml: no such file"),
                CheckLine.parse("x.yaml: no such file"));
        assertEquals(
                new CheckLine(
                        "x.yaml", 1, 2, "", "a tab: indent with spaces", null, "x.yaml:1:2: a tab: indent with spaces"),
                CheckLine.parse("x.yaml:1:2: a tab: indent with spaces"));
        assertEquals(new CheckLine(null, 0, 0, "", "odd", null, "odd"), CheckLine.parse("odd"));
    }
}
