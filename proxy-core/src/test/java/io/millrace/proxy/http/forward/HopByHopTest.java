package io.millrace.proxy.http.forward;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import org.junit.jupiter.api.Test;

final class HopByHopTest {

    @Test
    void removesTheFixedFieldsAndThoseThatConnectionNames_RFC9110_7_6_1() {
        FieldSection fields = FieldSection.builder()
                .add("Connection", "close, X-Hop")
                .add("Keep-Alive", "timeout=5")
                .add("Proxy-Connection", "close")
                .add("TE", "trailers")
                .add("Trailer", "X")
                .add("Transfer-Encoding", "chunked")
                .add("Upgrade", "h2c")
                .add("x-hop", "1")
                .add("connection", "Cookie2")
                .add("Cookie2", "1")
                .add("Server", "1")
                .add("X-Kept", "1")
                .add("Content-Length", "3")
                .build();
        FieldSection.Builder kept = FieldSection.builder();
        HopByHop.of(fields).copyEndToEnd(fields, kept);
        assertEquals("Server: 1\nX-Kept: 1\nContent-Length: 3\n", kept.build().toString());
    }

    @Test
    void doesNotFollowOptionsThatNameFieldsForAllRecipients_RFC9110_7_6_1() {
        FieldSection fields = FieldSection.builder()
                .add(
                        "Connection",
                        "Host, Content-Length, Cache-Control, Authorization, Vary, Cookie, accept-encoding, Via, x")
                .build();
        HopByHop hopByHop = HopByHop.of(fields);
        assertFalse(hopByHop.contains(FieldName.HOST));
        assertFalse(hopByHop.contains(FieldName.CONTENT_LENGTH));
        assertFalse(hopByHop.contains(FieldName.CACHE_CONTROL));
        assertFalse(hopByHop.contains(FieldName.AUTHORIZATION));
        assertFalse(hopByHop.contains(FieldName.VARY));
        assertFalse(hopByHop.contains(FieldName.COOKIE));
        assertFalse(hopByHop.contains(FieldName.ACCEPT_ENCODING));
        assertFalse(hopByHop.contains(FieldName.VIA));
        assertTrue(hopByHop.contains(FieldName.of("X")));
        assertTrue(hopByHop.contains(FieldName.UPGRADE));
    }

    @Test
    void sharesOneInstanceWhereConnectionNamesNothing() {
        FieldSection keepAlive =
                FieldSection.builder().add("Connection", "keep-alive").build();
        assertSame(HopByHop.of(FieldSection.EMPTY), HopByHop.of(keepAlive));
    }
}
