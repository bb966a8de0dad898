package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the test tools: without a proxy between them, clients and origins report everything that they should. */
class HarnessTest {

    @RegisterExtension
    static final NginxOrigin nginx = new NginxOrigin();

    @RegisterExtension
    static final ScriptedOrigin scripted = new ScriptedOrigin();

    @Test
    void readsARealTreeFromNginxAndCountsItsRequests() throws Exception {
        RealTree tree = RealTree.plant(nginx.root(), 1);
        assertTrue(tree.realFiles() >= RealTree.REAL_FILES_MIN);
        assertEquals(List.of(), new TreeReader(nginx.port()).read(tree.entries()));
        List<String> requests = nginx.requests();
        assertEquals(
                tree.entries().stream()
                        .map(entry -> "GET " + entry.target() + " 200")
                        .sorted()
                        .toList(),
                // The JDK's client may repeat a GET by itself.
                requests.stream()
                        .filter(line -> !line.contains("-bytes "))
                        .distinct()
                        .sorted()
                        .toList());
        String target = tree.entries().get(0).target();
        for (int i = 0; i < 10; i++) {
            assertEquals(200, RawClient.fetch(nginx.port(), target).status());
        }
        List<String> later = nginx.requests();
        assertEquals(Collections.nCopies(10, "GET " + target + " 200"), later.subList(requests.size(), later.size()));
    }

    @Test
    void treeReaderNoticesOneWrongByte() throws Exception {
        byte[] content = "right".getBytes(StandardCharsets.US_ASCII);
        RealTree.Entry entry = new RealTree.Entry(
                "/wrong-bytes", Files.write(nginx.root().resolve("wrong-bytes"), content), content.length);
        scripted.serves("/wrong-bytes", "ri9ht");
        assertEquals(List.of(), new TreeReader(nginx.port()).read(List.of(entry)));
        assertEquals(
                1, new TreeReader(scripted.port()).read(List.of(entry)).size(), "a wrong byte should be a problem");
    }

    @Test
    void keepAliveClientsAcceptRightAnswersOnly() throws Exception {
        byte[] right = "right".getBytes(StandardCharsets.US_ASCII);
        Files.write(nginx.root().resolve("few-bytes"), right);
        KeepAliveClients.Outcome fine =
                new KeepAliveClients(nginx.port(), 200, Map.of("/few-bytes", right)).run(2, Duration.ofSeconds(1));
        assertEquals(List.of(), fine.errors());
        assertEquals(200, fine.connectedAtOnce());
        assertTrue(fine.answers() >= 200, fine.answers() + " answers");

        scripted.serves("/few-bytes", "ri9ht");
        KeepAliveClients.Outcome wrong =
                new KeepAliveClients(scripted.port(), 3, Map.of("/few-bytes", right)).run(1, Duration.ofSeconds(1));
        assertEquals(3, wrong.errors().size(), String.join("\n", wrong.errors()));
        assertTrue(
                wrong.errors().get(0).contains("wrong byte at 2"),
                wrong.errors().get(0));

        scripted.on("/few-bytes", exchange -> {
            exchange.head(200, "Content-Length: 5");
            exchange.write("ri");
            exchange.close();
        });
        KeepAliveClients.Outcome truncated =
                new KeepAliveClients(scripted.port(), 1, Map.of("/few-bytes", right)).run(1, Duration.ofSeconds(1));
        assertTrue(
                truncated.errors().get(0).contains("the connection ends"),
                truncated.errors().get(0));
    }

    @Test
    void rawClientReadsEveryFraming() throws Exception {
        scripted.serves("/fixed", "0123456789", "X-One: 1", "X-One: 2");
        scripted.on("/chunked", exchange -> {
            exchange.head(200, "Transfer-Encoding: chunked");
            exchange.chunk("hello ");
            exchange.chunk("world");
            exchange.lastChunk();
        });
        scripted.on("/close", exchange -> {
            exchange.head(200);
            exchange.write("until the end");
            exchange.close();
        });
        try (RawClient client = RawClient.connect(scripted.port())) {
            RawResponse fixed = client.get("/fixed").response();
            assertEquals("0123456789", fixed.text());
            assertEquals("1, 2", fixed.joined("x-one"));
            assertEquals("10", client.request("HEAD", "/fixed").responseToHead().field("Content-Length"));
            assertEquals("hello world", client.get("/chunked").response().text());
            assertEquals("until the end", client.get("/close").response().text());
            assertTrue(client.reachesEnd());
        }
        assertEquals(
                List.of("GET", "HEAD", "GET", "GET"),
                scripted.requests().stream()
                        .filter(request ->
                                List.of("/fixed", "/chunked", "/close").contains(request.path()))
                        .map(OriginRequest::method)
                        .collect(Collectors.toList()));
    }

    @Test
    void rawClientAcceptsNoTruncatedBody() throws Exception {
        scripted.on("/short", exchange -> {
            exchange.head(200, "Content-Length: 10");
            exchange.write("01234");
            exchange.close();
        });
        scripted.on("/no-last-chunk", exchange -> {
            exchange.head(200, "Transfer-Encoding: chunked");
            exchange.chunk("hello");
            exchange.close();
        });
        assertThrows(EOFException.class, () -> RawClient.fetch(scripted.port(), "/short"));
        assertThrows(EOFException.class, () -> RawClient.fetch(scripted.port(), "/no-last-chunk"));
    }

    @Test
    void scriptedOriginRemembersBodiesAndReturnsOnItsPort() throws Exception {
        scripted.on("/echo", exchange -> exchange.answer(200, exchange.request().body()));
        byte[] body = new byte[100_000];
        new Random(7).nextBytes(body);
        try (RawClient client = RawClient.connect(scripted.port())) {
            assertArrayEquals(
                    body, client.request("PUT", "/echo", body).response().body());
            client.request("POST", "/echo", "Transfer-Encoding: chunked").send("3\r\nabc\r\n0\r\n\r\n");
            assertEquals("abc", client.response().text());
        }
        int port = scripted.port();
        scripted.stop();
        assertThrows(IOException.class, () -> RawClient.fetch(port, "/echo"));
        scripted.start();
        assertEquals(port, scripted.port());
        assertEquals(200, RawClient.fetch(port, "/echo").status());
    }

    @Test
    void jsonIsReadByPath() {
        Json json = Json.parse("{\"a\":{\"b\":[1,{\"c\":true,\"d\":\"x\"}]},\"e\":null}");
        assertEquals(1, json.at("a.b.0").number());
        assertTrue(json.at("a.b.1.c").isTrue());
        assertEquals("x", json.at("a.b.1.d").text());
        assertTrue(json.at("e").isNull() && json.at("f.g").isNull());
        assertEquals(2, json.at("a.b").elements().size());
    }
}
