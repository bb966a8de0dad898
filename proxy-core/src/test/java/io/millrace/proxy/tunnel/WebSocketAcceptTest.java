package io.millrace.proxy.tunnel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.http.FieldSection;
import org.junit.jupiter.api.Test;

class WebSocketAcceptTest {
    @Test
    void acceptIsThatOfTheKey_RFC6455_1_3() {
        assertEquals("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", WebSocketAccept.of("dGhlIHNhbXBsZSBub25jZQ=="));
        FieldSection request = FieldSection.builder()
                .add("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
                .build();
        FieldSection right = FieldSection.builder()
                .add("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                .build();
        assertNull(WebSocketAccept.problem(request, right));
        assertEquals(
                "status 101 for a WebSocket request that does not have exactly one Sec-WebSocket-Key",
                WebSocketAccept.problem(FieldSection.EMPTY, right));
        assertEquals(
                "status 101 for WebSocket without exactly one Sec-WebSocket-Accept",
                WebSocketAccept.problem(request, FieldSection.EMPTY));
    }
}
