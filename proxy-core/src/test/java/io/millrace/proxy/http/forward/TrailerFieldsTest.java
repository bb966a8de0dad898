package io.millrace.proxy.http.forward;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.http.FieldSection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which trailer fields are forwarded, and to which clients. */
class TrailerFieldsTest {
    /** RFC 9110 s6.5.1: framing, routing, caching, authentication and content fields have no effect in trailers. */
    @ParameterizedTest
    @CsvSource({
        "grpc-status, true",
        "X-Checksum, true",
        "Server-Timing, true",
        "ETag, true",
        "Content-Length, false",
        "content-type, false",
        "Transfer-Encoding, false",
        "Connection, false",
        "Cache-Control, false",
        "Set-Cookie, false",
        "Age, false",
        "Trailer, false",
        "Location, false",
        "Strict-Transport-Security, false",
    })
    void fieldsOfTheHeadAreDropped(String name, boolean forwarded) {
        FieldSection kept = TrailerFields.forwardable(
                FieldSection.builder().add(name, "1").add("x-other", "2").build());
        assertEquals((forwarded ? name + ": 1\n" : "") + "x-other: 2\n", String.valueOf(kept));
    }

    @Test
    void nothingIsLeftOfNothing() {
        assertNull(TrailerFields.forwardable(null));
        assertNull(TrailerFields.forwardable(FieldSection.EMPTY));
        assertNull(TrailerFields.forwardable(
                FieldSection.builder().add("content-length", "1").build()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"trailers | true", "gzip, Trailers | true", "gzip | false", "trailers-x | false"})
    void clientsSayThatTheyTakeTrailers(String te, boolean wanted) {
        assertEquals(
                wanted,
                TrailerFields.areWanted(FieldSection.builder().add("TE", te).build()));
    }
}
