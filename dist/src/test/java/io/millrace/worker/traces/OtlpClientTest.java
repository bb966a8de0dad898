package io.millrace.worker.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.ByteBuffer;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the reuse of the direct buffer for the content of requests. */
class OtlpClientTest {
    private static OtlpClient client(String url) {
        return new OtlpClient(HttpClient.newHttpClient(), URI.create(url), false, Map::of);
    }

    private static DirectBody body(OtlpClient client) throws IOException {
        return (DirectBody) client.body(new byte[0], 0, 0);
    }

    private static ByteBuffer content(OtlpClient client, int length) throws IOException {
        return ((DirectBody) client.body(new byte[length], 0, length)).content();
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 400, 401, 413, 503})
    void anAnsweredRequestLeavesItsBufferToTheNextOne(int status) throws Exception {
        try (FakeCollector collector = new FakeCollector(null)) {
            collector.fail(1, status);
            OtlpClient client = client(collector.url("127.0.0.1"));
            ByteBuffer first = content(client, 1000);
            assertEquals(status, client.post(body(client)).status());
            assertSame(first, content(client, 1000));
        }
    }

    @Test
    void theClientMayStillReadTheBufferOfARequestWithoutAnAnswer() throws Exception {
        FakeCollector collector = new FakeCollector(null);
        String url = collector.url("127.0.0.1");
        collector.close();
        OtlpClient client = client(url);
        ByteBuffer first = content(client, 1000);
        assertThrows(IOException.class, () -> client.post(body(client)));
        assertNotSame(first, content(client, 1000));
    }
}
