package io.millrace.proxy.exchange.esi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PrintableUrlTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/f | /f",
                "/f?token=secret | /f",
                "f#part?x | f",
                "?token=secret | ''",
                "http://a.example/f?x=http://u@b/ | http://a.example/f",
                "http://user:secret@a.example/f@g | http://a.example/f@g",
                "http://user:secret@a.example | http://a.example",
                "//user@a.example/ | //a.example/",
                "http:// | http://",
                "/a//b@c | /a//c",
                "'/a\r\nb\u001b[31mc\u00e9 d' | /a__b_[31mc__d",
                "@/x | @/x"
            })
    void queriesAndControlCharactersAreLeftOut(String reference, String text) {
        assertEquals(text, PrintableUrl.of(reference));
    }

    @ParameterizedTest
    @CsvSource({"200,200", "201,203", "100000,203"})
    void theLengthIsBounded(int length, int expected) {
        assertEquals(expected, PrintableUrl.of("x".repeat(length)).length());
    }
}
