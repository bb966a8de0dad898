package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests many concurrent calls: each receives its own response, and the limits are kept. */
class ConcurrentFetchTest extends FetchFixture {

    private static final int CALLS = 1_000;
    private static final int CONNECTIONS = 16;

    @Test
    void everyCallGetsItsOwnResponse() throws Exception {
        long seed = System.nanoTime();
        System.out.println("ConcurrentFetchTest seed=" + seed);
        Random random = new Random(seed);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> serve(peer, seed))) {
            FetchSettings settings =
                    settings().connectionsMax(CONNECTIONS).queueMax(CALLS).build();
            List<RecordedResponse> responses = new ArrayList<>();
            List<Boolean> cancelled = new ArrayList<>();
            onLoop(() -> {
                for (int i = 0; i < CALLS; i++) {
                    int number = i;
                    boolean post = random.nextInt(4) == 0;
                    RecordedResponse response = new RecordedResponse();
                    responses.add(response);
                    OriginRequest request = request(
                            origin.origin(),
                            builder -> (post ? builder.method("POST").chunkedContent() : builder)
                                    .target("/" + number)
                                    .settings(settings));
                    OriginCall call = client.fetch(request, response);
                    if (post) {
                        call.write(Unpooled.wrappedBuffer(content(seed, number)));
                        call.finishRequest();
                    }
                    boolean cancel = random.nextInt(10) == 0;
                    cancelled.add(cancel);
                    if (cancel) {
                        call.cancel();
                    }
                }
                assertTrue(client.statistics().connectionsConnecting() <= CONNECTIONS);
                return null;
            });
            for (int i = 0; i < CALLS; i++) {
                if (!cancelled.get(i)) {
                    assertArrayEquals(
                            content(seed, i),
                            responses.get(i).awaitComplete().contentBytes(),
                            "call " + i + ", seed " + seed);
                }
            }
            assertTrue(origin.connectionsAccepted() <= CONNECTIONS + 5, "connections " + origin.connectionsAccepted());
            onLoop(() -> {
                assertEquals(0, client.statistics().connectionsActive());
                assertEquals(0, client.statistics().connectionsConnecting());
                assertEquals(0, client.statistics().callsWaiting());
                assertTrue(client.statistics().connectionsOpen() <= CONNECTIONS);
                return null;
            });
        }
    }

    /** Answers with the content of the request's number: with a length, in chunks, or until the close. */
    private static void serve(ScriptedOrigin.Peer peer, long seed) throws Exception {
        String head;
        while ((head = peer.readHead()) != null) {
            int number = Integer.parseInt(head.substring(head.indexOf('/') + 1, head.indexOf(" HTTP")));
            byte[] content = content(seed, number);
            if (head.startsWith("POST")) {
                readChunks(peer);
            }
            if (number % 3 == 0) {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + content.length + "\r\n\r\n");
                peer.send(content);
            } else {
                peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                for (int at = 0; at < content.length; at += 1000) {
                    int length = Math.min(1000, content.length - at);
                    peer.send(Integer.toHexString(length) + "\r\n"
                            + new String(content, at, length, StandardCharsets.ISO_8859_1) + "\r\n");
                }
                peer.send("0\r\n\r\n");
            }
        }
    }

    private static void readChunks(ScriptedOrigin.Peer peer) throws Exception {
        while (true) {
            StringBuilder size = new StringBuilder();
            while (size.indexOf("\r\n") < 0) {
                size.append(peer.read(1));
            }
            int length = Integer.parseInt(size.substring(0, size.length() - 2), 16);
            assertEquals(length, peer.read(length).length());
            assertEquals("\r\n", peer.read(2));
            if (length == 0) {
                return;
            }
        }
    }

    private static byte[] content(long seed, int number) {
        Random random = new Random(seed + number);
        byte[] content = new byte[1 + random.nextInt(number % 50 == 0 ? 300_000 : 3_000)];
        random.nextBytes(content);
        return content;
    }
}
