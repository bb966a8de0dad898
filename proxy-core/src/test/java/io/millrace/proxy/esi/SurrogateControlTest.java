package io.millrace.proxy.esi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.millrace.proxy.http.FieldSection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which values of Surrogate-Control ask for ESI. */
class SurrogateControlTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "content=\"ESI/1.0\" # true",
                "max-age=60, Content = \"ESI/1.0\" # true",
                "content=\"ESI/1.0 ESI-Inline/1.0\" # true",
                "content=\"ESI/1.0\";millrace # true",
                "content=\"ESI/1.0\";abc # false",
                "content=\"ESI/1.0\";abc, content=\"ESI/1.0\" # true",
                "content=\"ESI/1.1\" # false",
                "content # false",
                "max-age=60 # false",
                "x-content=\"ESI/1.0\" # false"
            })
    void values(String value, boolean asks) {
        FieldSection fields =
                FieldSection.builder().add(SurrogateControl.CONTROL, value).build();
        assertEquals(asks, SurrogateControl.asksForEsi(fields));
    }

    @Test
    void absent() {
        assertFalse(SurrogateControl.asksForEsi(FieldSection.EMPTY));
    }
}
