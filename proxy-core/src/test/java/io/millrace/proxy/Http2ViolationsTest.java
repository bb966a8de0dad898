package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.CONTINUATION;
import static io.millrace.proxy.http2.Http2Client.DATA;
import static io.millrace.proxy.http2.Http2Client.END_HEADERS;
import static io.millrace.proxy.http2.Http2Client.END_STREAM;
import static io.millrace.proxy.http2.Http2Client.GOAWAY;
import static io.millrace.proxy.http2.Http2Client.HEADERS;
import static io.millrace.proxy.http2.Http2Client.PING;
import static io.millrace.proxy.http2.Http2Client.PRIORITY;
import static io.millrace.proxy.http2.Http2Client.RST_STREAM;
import static io.millrace.proxy.http2.Http2Client.SETTINGS;
import static io.millrace.proxy.http2.Http2Client.WINDOW_UPDATE;
import static io.millrace.proxy.http2.Http2Client.number;
import static io.millrace.proxy.http2.Http2Client.request;
import static io.millrace.proxy.http2.Http2Client.setting;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests violations of RFC 9113 in frames: error, scope and counter of each. */
class Http2ViolationsTest extends Http2Fixture {
    /** Frames that a client sends after the settings, and the expected outcome. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Violation(String name, String outcome, Counter counter, byte[][] frames) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Violation violation(String name, String outcome, Counter counter, byte[]... frames) {
        return new Violation(name, outcome, counter, frames);
    }

    static List<Violation> violations() {
        List<Violation> all = new ArrayList<>();
        Counter protocol = Counter.HTTP2_FAULT_PROTOCOL;
        all.add(violation("DATA on stream 0", "connection PROTOCOL_ERROR", protocol, frame(DATA, 0, 0, 1)));
        all.add(violation("DATA on an idle stream", "connection PROTOCOL_ERROR", protocol, frame(DATA, 0, 1, 1)));
        all.add(violation("HEADERS on stream 0", "connection PROTOCOL_ERROR", protocol, get(0, request("GET", "/"))));
        all.add(violation("an even stream", "connection PROTOCOL_ERROR", protocol, get(2, request("GET", "/"))));
        all.add(violation(
                "a lower stream",
                "connection PROTOCOL_ERROR",
                protocol,
                post(5, request("POST", "/slow")),
                get(3, request("GET", "/"))));
        all.add(violation("CONTINUATION alone", "connection PROTOCOL_ERROR", protocol, frame(CONTINUATION, 4, 1, 3)));
        all.add(violation(
                "a frame within a block",
                "connection PROTOCOL_ERROR",
                protocol,
                frame(HEADERS, 0, 1, 3),
                frame(PING, 0, 0, 8)));
        all.add(violation("PUSH_PROMISE", "connection PROTOCOL_ERROR", protocol, frame(5, 4, 1, 8)));
        all.add(violation("RST_STREAM when idle", "connection PROTOCOL_ERROR", protocol, frame(RST_STREAM, 0, 1, 4)));
        all.add(violation("WINDOW_UPDATE by 0", "connection PROTOCOL_ERROR", protocol, frame(WINDOW_UPDATE, 0, 0, 4)));
        all.add(violation(
                "an unknown setting's value",
                "connection PROTOCOL_ERROR",
                protocol,
                Http2Client.bytes(SETTINGS, 0, 0, setting(2, 2))));
        Counter size = Counter.HTTP2_FAULT_FRAME_SIZE;
        all.add(violation("PING of 7 bytes", "connection FRAME_SIZE_ERROR", size, frame(PING, 0, 0, 7)));
        all.add(violation("SETTINGS of 5 bytes", "connection FRAME_SIZE_ERROR", size, frame(SETTINGS, 0, 0, 5)));
        all.add(violation("RST_STREAM of 3 bytes", "connection FRAME_SIZE_ERROR", size, frame(RST_STREAM, 0, 1, 3)));
        all.add(violation("a frame of 16385 bytes", "connection FRAME_SIZE_ERROR", size, frame(DATA, 0, 1, 16_385)));
        all.add(violation("GOAWAY of 7 bytes", "connection FRAME_SIZE_ERROR", size, frame(GOAWAY, 0, 0, 7)));
        Counter flow = Counter.HTTP2_FAULT_FLOW_CONTROL;
        all.add(violation(
                "a window above 2^31-1",
                "connection FLOW_CONTROL_ERROR",
                flow,
                Http2Client.bytes(WINDOW_UPDATE, 0, 0, number(Integer.MAX_VALUE))));
        all.add(violation(
                "a window above 2^31-1 by SETTINGS",
                "connection FLOW_CONTROL_ERROR",
                flow,
                post(1, request("POST", "/slow")),
                Http2Client.bytes(WINDOW_UPDATE, 0, 1, number(1)),
                Http2Client.bytes(SETTINGS, 0, 0, setting(4, Integer.MAX_VALUE))));
        all.add(violation(
                "a stream's window above 2^31-1",
                "stream FLOW_CONTROL_ERROR",
                flow,
                post(1, request("POST", "/slow")),
                Http2Client.bytes(WINDOW_UPDATE, 0, 1, number(Integer.MAX_VALUE))));
        all.add(violation(
                "a block that is none",
                "connection COMPRESSION_ERROR",
                Counter.HTTP2_FAULT_COMPRESSION,
                Http2Client.bytes(HEADERS, END_HEADERS | END_STREAM, 1, new byte[] {(byte) 0x80})));
        all.add(violation(
                "DATA behind the end",
                "stream STREAM_CLOSED",
                Counter.HTTP2_FAULT_STREAM_CLOSED,
                get(1, request("GET", "/slow")),
                frame(DATA, 0, 1, 5)));
        all.add(violation("a PRIORITY of 4 bytes", "connection FRAME_SIZE_ERROR", size, frame(PRIORITY, 0, 1, 4)));
        return all;
    }

    @ParameterizedTest
    @MethodSource("violations")
    void violationsHaveTheirErrorAndScope(Violation violation) throws Exception {
        List<String> heads = java.util.Collections.synchronizedList(new ArrayList<>());
        start(request -> {
            heads.add(request.head());
            go.await();
        });
        Http2Client client = client();
        for (byte[] frame : violation.frames()) {
            client.send(frame);
        }
        assertEquals(violation.outcome(), client.outcome());
        if (violation.counter() != null) {
            assertEquals(1, proxy.counted(violation.counter()));
        }
        if (violation.outcome().startsWith("connection")) {
            assertNull(client.read());
        } else {
            // The connection and its other streams stay open.
            client.frame(PING, 0, 0, new byte[8]);
            assertNotNull(client.await(PING));
        }
        go.countDown();
        for (String head : heads) {
            assertTrue(head.contains(" /slow HTTP/1.1\r\n"), head);
        }
    }
}
