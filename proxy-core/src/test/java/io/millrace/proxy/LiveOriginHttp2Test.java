package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.fetch.Http2Origin;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of HTTP/2 to origins: global, in rules, and for a group. */
class LiveOriginHttp2Test {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private Http2Origin origin;

    @BeforeEach
    void open() throws IOException {
        origin = new Http2Origin();
    }

    @AfterEach
    void close() throws IOException {
        origin.close();
    }

    private LiveProxy general(String settings) {
        return live.file(
                "origin: {" + settings + "}\nremap: [{map: /, to: 'http://127.0.0.1:" + origin.port() + "/'}]");
    }

    private String seen() throws IOException {
        return live.text(live.fresh());
    }

    @LiveKey("origin.http2")
    void protocol() throws Exception {
        general("http2: <off|prior_knowledge>").turns("version=1", "version=2 window=262144", this::seen);
    }

    @LiveKey("origin.http2_stream_window")
    void window() throws Exception {
        general("http2: prior_knowledge, http2_stream_window: <32|64>KiB")
                .turns("version=2 window=32768", "version=2 window=65536", this::seen);
    }

    @LiveKey("origin.http2_streams")
    void streams() throws Exception {
        general("http2: prior_knowledge, http2_streams: <1|2>").turns("other", "same", this::probe);
    }

    private String probe() throws Exception {
        CompletableFuture<String> held = CompletableFuture.supplyAsync(() -> {
            try {
                return live.text("/hold" + live.fresh().substring(1));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        origin.awaitHeld();
        String seen = live.text("/probe" + live.fresh().substring(1));
        assertEquals("held", held.get(20, TimeUnit.SECONDS));
        return seen;
    }

    @LiveKey("origins[].http2")
    void group() throws Exception {
        live.file("origins: [{name: shop, http2: <off|prior_knowledge>, hosts: ['http://127.0.0.1:" + origin.port()
                        + "']}]\nremap: [{map: /, to: 'http://shop.internal/', origins: shop}]")
                .turns("version=1", "version=2 window=262144", this::seen);
    }
}
