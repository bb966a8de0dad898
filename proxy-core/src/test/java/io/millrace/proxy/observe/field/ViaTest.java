package io.millrace.proxy.observe.field;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ViaTest {
    private final Via via = new Via("millrace");

    @Test
    void rfc9110Section7_6_3_writesTheReceivedVersionAndThePseudonym() {
        assertEquals("1.0 millrace", written(1, 0));
        assertEquals("1.1 millrace", written(1, 1));
        assertEquals("2.0 millrace", written(2, 0));
        assertEquals("3.0 millrace", written(3, 0));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.1 millrace",
                "1.0 fred, 1.1 millrace",
                "1.0 fred,1.1 millrace",
                "1.1 MillRace",
                " \t1.1   millrace (with a comment)",
                "HTTP/1.1 fred (a, b), 2.0\tmillrace , 1.1 other",
                "1.1 fred (nested (one, two), \\) three), 1.1 millrace",
                ",, 1.1 millrace"
            })
    void rfc9110Section7_6_3_findsItselfInAReceivedField(String value) {
        assertTrue(isNamedIn(value));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                ",",
                "1.1",
                "1.1 ",
                "1.1 millrac",
                "1.1 millrace2",
                "1.1 millrace.example.com",
                "1.1 other (1.1 millrace)",
                "1.1 other (x, 1.1 millrace)",
                "millrace",
                "1.1 other millrace"
            })
    void rfc9110Section7_6_3_doesNotTakeOthersForItself(String value) {
        assertFalse(isNamedIn(value));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a,b", "a(b)", "a\nb", "\u00e4", "\"a\""})
    void refusesPseudonymsThatWouldEndTheMember(String pseudonym) {
        assertThrows(IllegalArgumentException.class, () -> new Via(pseudonym));
    }

    private boolean isNamedIn(String value) {
        byte[] bytes = ("xx" + value + "yy").getBytes(StandardCharsets.ISO_8859_1);
        return via.isNamedIn(bytes, 2, bytes.length - 4);
    }

    private String written(int major, int minor) {
        ByteBuf out = Unpooled.buffer();
        try {
            via.write(out, major, minor);
            return out.toString(StandardCharsets.US_ASCII);
        } finally {
            out.release();
        }
    }
}
