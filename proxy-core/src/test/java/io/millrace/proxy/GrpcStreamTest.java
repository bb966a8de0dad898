package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.request;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.fetch.Http2Origin;
import io.millrace.proxy.http2.Http2Client;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a call with messages in both directions, each of which waits for the reply to the previous one. */
class GrpcStreamTest {
    private static final int DATA = 0;
    private static final int HEADERS = 1;

    @ParameterizedTest
    @ValueSource(strings = {"application/grpc", "application/grpc+proto"})
    void messagesPassInBothDirectionsAsTheyCome(String type) throws Exception {
        try (Http2Origin origin = new Http2Origin()) {
            ConfigResult config = ConfigLoader.parse(
                    "listen: [{address: '127.0.0.1:0', h2c: true}]\nstorage: []\nremap: [{map: /, to: 'http://127.0.0.1:"
                            + origin.port() + "/', origin: {http2: prior_knowledge}}]",
                    "millrace.yaml",
                    Map.of());
            assertNotNull(config.config(), config::text);
            try (ProxyServer proxy =
                            ProxyServer.builder().config(config.config()).start();
                    Http2Client client = new Http2Client(proxy.addresses().get(0))) {
                client.headers(1, false, request("POST", "/echo", "content-type", type, "te", "trailers"));
                for (int i = 0; i < 3; i++) {
                    byte[] message = ("message " + i).getBytes(StandardCharsets.US_ASCII);
                    client.data(1, false, message);
                    if (i == 0) {
                        assertEquals(
                                200,
                                Http2Client.status(
                                        Http2Client.decode(client.await(HEADERS).payload())));
                    }
                    assertArrayEquals(message, client.await(DATA).payload());
                }
                client.data(1, true, new byte[0]);
                assertEquals(
                        "grpc-status: 0\n",
                        Http2Client.decode(client.await(HEADERS).payload()));
            }
        }
    }
}
