package io.millrace.proxy.observe.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the field traceparent (W3C Trace Context, level 1). */
class TraceParentTest {
    private static final String VALUE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    private static boolean isValid(String value) {
        byte[] bytes = (" " + value + "9").getBytes(StandardCharsets.ISO_8859_1);
        return TraceParent.isValid(bytes, 1, bytes.length - 1);
    }

    @Test
    void partsOfAValue() {
        byte[] bytes = ("-" + VALUE).getBytes(StandardCharsets.US_ASCII);
        assertTrue(TraceParent.isValid(bytes, 1, bytes.length));
        assertEquals(0x4bf92f3577b34da6L, TraceParent.traceHigh(bytes, 1));
        assertEquals(0xa3ce929d0e0e4736L, TraceParent.traceLow(bytes, 1));
        assertEquals(0x00f067aa0ba902b7L, TraceParent.parent(bytes, 1));
        assertTrue(TraceParent.isSampled(bytes, 1));
        assertEquals(VALUE, TraceParent.text(0x4bf92f3577b34da6L, 0xa3ce929d0e0e4736L, 0x00f067aa0ba902b7L, true));
    }

    /** The recommendation, s3.2.2 and s3.2.3: lengths, digits, zeros, versions. */
    @ParameterizedTest
    @CsvSource({
        "true,  00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
        "true,  00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff",
        "true,  00-00000000000000000000000000000001-0000000000000001-01",
        "true,  cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "true,  cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what the future will be like",
        "false, cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what",
        "false, ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "false, 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
        "false, 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "false, 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
        "false, 00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "false, 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902bg-01",
        "false, 00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "false, 00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "false, 00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
        "false, 0",
        "false, ''"
    })
    void validity(boolean expected, String value) {
        assertEquals(expected, isValid(value));
    }
}
