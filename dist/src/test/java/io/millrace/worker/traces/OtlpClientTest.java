package io.millrace.worker.traces;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the reuse of the direct buffer for the content of requests. */
class OtlpClientTest {
    private static OtlpClient client(String url) {
        return new OtlpClient(URI.create(url), null, false, Map::of);
    }

    private static ByteBuf body(OtlpClient client, int length) throws IOException {
        return client.body(new byte[length], 0, length);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 400, 401, 413, 503})
    void anAnsweredRequestLeavesItsBufferToTheNextOne(int status) throws Exception {
        try (FakeCollector collector = new FakeCollector(null);
                OtlpClient client = client(collector.url("127.0.0.1") + "/v1/traces")) {
            collector.fail(1, status);
            ByteBuf first = body(client, 1000);
            assertEquals(status, client.post(body(client, 0)).status());
            assertSame(first, body(client, 1000));
        }
    }

    @Test
    void aBufferThatMayStillBeReadIsNotWritten() throws Exception {
        try (OtlpClient client = client("http://127.0.0.1:1")) {
            ByteBuf first = body(client, 1000);
            ByteBuf reader = first.retainedDuplicate();
            assertNotSame(first, body(client, 1000));
            reader.release();
        }
    }

    @Test
    void aRequestThatWasNotSentLeavesNoReader() throws Exception {
        FakeCollector collector = new FakeCollector(null);
        String url = collector.url("127.0.0.1") + "/v1/traces";
        collector.close();
        try (OtlpClient client = client(url)) {
            ByteBuf body = body(client, 1000);
            IOException thrown = assertThrows(IOException.class, () -> client.post(body));
            assertEquals(1, body.refCnt());
            assertEquals("Connection refused: /" + URI.create(url).getAuthority(), thrown.getMessage());
        }
    }

    /** Random bytes get longer. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 9, 1000, 600_000})
    void contentThatCannotBeCompressedFits(int length) throws Exception {
        byte[] random = new byte[length];
        new Random(length).nextBytes(random);
        try (OtlpClient client = new OtlpClient(URI.create("http://127.0.0.1:1"), null, true, Map::of)) {
            ByteBuf body = client.body(random, 0, length);
            byte[] compressed = new byte[body.readableBytes()];
            body.readBytes(compressed);
            assertEquals(length, new GZIPInputStream(new ByteArrayInputStream(compressed)).readAllBytes().length);
        }
    }
}
