package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.GOAWAY;
import static io.millrace.proxy.http2.Http2Client.PING;
import static io.millrace.proxy.http2.Http2Client.PRIORITY;
import static io.millrace.proxy.http2.Http2Client.RST_STREAM;
import static io.millrace.proxy.http2.Http2Client.WINDOW_UPDATE;
import static io.millrace.proxy.http2.Http2Client.number;
import static io.millrace.proxy.http2.Http2Client.request;

import io.millrace.proxy.http2.Http2Client;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the limits of HTTP/2, with open connections. */
class LiveHttp2Test {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private final CountDownLatch go = new CountDownLatch(1);

    private LiveProxy file(String settings) {
        return live.script(request -> {
                    if (request.has("/slow")) {
                        go.await();
                    }
                    request.ok("Cache-Control: max-age=60\r\n", new byte[1]);
                })
                .file("listen: [{address: '127.0.0.1:0', h2c: true}]\nhttp2: {" + settings + "}");
    }

    @AfterEach
    void letGo() {
        go.countDown();
    }

    private Http2Client client() throws IOException {
        return new Http2Client(live.proxy().address());
    }

    @LiveKey("http2.streams")
    void streams() throws Exception {
        file("streams: <2|1>").turns("status 200", "stream REFUSED_STREAM", () -> {
            try (Http2Client client = client()) {
                return client.get(1, "/slow").get(3, "/a").outcome();
            }
        });
    }

    @LiveKey("http2.header_list")
    void headerList() throws Exception {
        file("header_list: <2KiB|4KiB>").turns("status 431", "status 200", () -> {
            try (Http2Client client = client()) {
                return client.get(1, "/a", "x", "x".repeat(2500)).outcome();
            }
        });
    }

    @LiveKey("http2.stream_window")
    void streamWindow() throws Exception {
        file("stream_window: <64KiB|128KiB>").turns(0, 16_384 + 65_537, () -> {
            try (Http2Client client = client()) {
                client.headers(1, false, request("POST", "/p")).data(1, false, new byte[16_384]);
                client.frame(PING, 0, 0, new byte[8]);
                int raised = 0;
                for (Http2Client.Frame frame = client.read();
                        frame != null && frame.type() != PING;
                        frame = client.read()) {
                    if (frame.type() == WINDOW_UPDATE && frame.streamId() == 1) {
                        raised += ByteBuffer.wrap(frame.payload()).getInt();
                    }
                }
                return raised;
            }
        });
    }

    /** Returns whether a connection stays open after this many frames. */
    private String after(int times, Some some) throws IOException {
        try (Http2Client client = client()) {
            for (int i = 0; i < times; i++) {
                some.send(client, 2 * i + 1);
            }
            client.frame(PING, 0, 0, new byte[8]);
            for (Http2Client.Frame frame = client.read(); frame != null; frame = client.read()) {
                if (frame.type() == PING) {
                    return "lives";
                }
                if (frame.type() == GOAWAY) {
                    return frame.error();
                }
            }
            return "end";
        }
    }

    private interface Some {
        void send(Http2Client client, int streamId) throws IOException;
    }

    @LiveKey("http2.resets")
    void resets() throws Exception {
        file("resets: <2|4>")
                .turns(
                        "ENHANCE_YOUR_CALM",
                        "lives",
                        () -> after(3, (client, id) -> client.get(id, "/slow").frame(RST_STREAM, 0, id, number(8))));
    }

    @LiveKey("http2.stream_faults")
    void streamFaults() throws Exception {
        file("stream_faults: <2|4>")
                .turns("ENHANCE_YOUR_CALM", "lives", () -> after(3, (client, id) -> client.get(id, "/", "Upper", "x")));
    }

    @LiveKey("http2.control_frames")
    void controlFrames() throws Exception {
        file("control_frames: <10|20>")
                .turns(
                        "ENHANCE_YOUR_CALM",
                        "lives",
                        () -> after(15, (client, id) -> client.frame(PRIORITY, 0, id, new byte[5])));
    }
}
