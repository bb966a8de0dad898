package io.millrace.proxy.caching.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.FieldSection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the choice of a coding by Accept-Encoding (RFC 9110 section 12.5.3). */
class EncodingRulesTest {
    private static final EncodingRules RULES = new EncodingRules(
            List.of(ContentCoding.BROTLI, ContentCoding.ZSTD, ContentCoding.GZIP),
            List.of("text/*", "image/svg+xml"),
            0,
            1000,
            Map.of(ContentCoding.BROTLI, 5, ContentCoding.ZSTD, 3, ContentCoding.GZIP, 6));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gzip, deflate, br, zstd       | br",
                "gzip, zstd                    | zstd",
                "GZIP                          | gzip",
                "x-gzip                        | gzip",
                "deflate                       | identity",
                "*                             | br",
                "*;q=0.5, gzip                 | gzip",
                "br;q=0, *                     | zstd",
                "br;q=0.5, zstd;q=0.7;a, gzip;q=0.6 | gzip",
                "br ; q=0.9 , gzip;q=1.000     | gzip",
                "br;q=0.999, gzip;q=0.998      | br",
                "br;q=2                        | identity",
                "br;q=1.001                    | identity",
                "br;q=.5                       | identity",
                "br;q=0.0001, gzip             | gzip",
                "brotli, gzipped               | identity",
                "identity                      | identity",
                "identity, br;q=0.5            | identity",
                "identity;q=0.5, br;q=0.5      | br",
                "identity;q=0, gzip            | gzip",
                ", ,gzip,                      | gzip"
            })
    void choosesTheHighestWeight(String accepted, String expected) {
        assertEquals(
                expected,
                RULES.normalForm(
                        FieldSection.builder().add("Accept-Encoding", accepted).build()));
    }

    @Test
    void clientsThatSayNothingGetNoCoding() {
        assertEquals("identity", RULES.normalForm(FieldSection.EMPTY));
        assertEquals(
                "identity",
                RULES.normalForm(FieldSection.builder()
                        .add("Accept-Encoding", "br")
                        .add("Cache-Control", "max-age=0, no-transform")
                        .build()));
    }

    @Test
    void theNormalFormIsItsOwn() {
        for (String form : List.of("br", "zstd", "gzip", "identity")) {
            assertEquals(
                    form,
                    RULES.normalForm(
                            FieldSection.builder().add("Accept-Encoding", form).build()));
        }
    }

    @Test
    void typesAreComparedAsAWhole() {
        for (String type : List.of("text/html", "TEXT/x", "image/svg+xml")) {
            assertTrue(includes(type), type);
        }
        for (String type : List.of("text/", "textual/html", "image/svg", "image/svg+xml2", "")) {
            assertFalse(includes(type), type);
        }
    }

    private static boolean includes(String type) {
        byte[] bytes = type.getBytes(StandardCharsets.US_ASCII);
        return RULES.includesType(bytes, 0, bytes.length);
    }
}
