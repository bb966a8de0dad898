package io.millrace.proxy.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FieldLexerTest {

    @ParameterizedTest(name = "RFC 9111 1.2.2: delta-seconds \"{0}\" is {1}")
    @CsvSource(
            quoteCharacter = '~',
            value = {
                "0,0",
                "003600,3600",
                "2147483647,2147483647",
                "2147483648,2147483648",
                "2147483649,2147483648",
                "99999999999999999999999,2147483648",
                "~~,-1",
                "-1,-1",
                "+1,-1",
                "1.0,-1",
                "1a,-1",
                "~ 1~,-1"
            })
    void readsDeltaSeconds(String text, long seconds) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        assertEquals(seconds, FieldLexer.deltaSeconds(bytes, 0, bytes.length));
    }

    @ParameterizedTest(name = "number \"{0}\" is {1}")
    @CsvSource(
            quoteCharacter = '~',
            value = {
                "0,0",
                "9223372036854775807,9223372036854775807",
                "9223372036854775808,9223372036854775807",
                "92233720368547758070,9223372036854775807",
                "99999999999999999999999999,9223372036854775807",
                "~~,-1",
                "-0,-1",
                "0x1,-1"
            })
    void readsNumbersWithoutOverflow(String text, long number) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        assertEquals(number, FieldLexer.number(bytes, 0, bytes.length));
    }

    /**
     * Tests each of the 256 bytes at each position of ranges of each length around the eight bytes that are compared
     * together.
     */
    @Test
    void skipsVisibleAsciiSpacesAndTabsAndNothingElse() {
        byte[] fillers = {' ', '~', 'a', '\t'};
        for (int length = 1; length <= 25; length++) {
            for (int at = 0; at < length; at++) {
                for (int value = 0; value < 256; value++) {
                    byte[] bytes = new byte[length + 2];
                    Arrays.fill(bytes, fillers[value % fillers.length]);
                    bytes[1 + at] = (byte) value;
                    boolean isText = value == '\t' || (value >= ' ' && value < 0x7f);
                    int expected = isText ? 1 + length : 1 + at;
                    assertEquals(expected, FieldLexer.skipText(bytes, 1, 1 + length), value + " at " + at);
                }
            }
        }
    }
}
