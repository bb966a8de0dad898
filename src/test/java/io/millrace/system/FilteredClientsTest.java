package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that clients whose addresses no filter allows receive 403, and the others their responses. */
@Tag("nightly")
class FilteredClientsTest {

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess proxy;

    @BeforeAll
    static void start() throws IOException {
        origin.serves("/", "the origin", "Cache-Control: max-age=3600");
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                filters:
                  - name: first
                    action: allow
                    src_ip: 127.0.0.1
                    in_ip: 127.0.0.0/8
                  - name: read-only
                    action: deny
                    methods: [POST, PUT, DELETE]
                access:
                  filters: [{action: deny, src_ip: 127.0.0.66}]
                remap:
                  - map: http://reading.example/
                    to: %1$s/
                    filters: [read-only]
                  - map: http://inside.example/
                    to: %1$s/
                    filters: [{action: allow, in_ip: 127.0.0.9}]
                  - map: http://both.example/
                    to: %1$s/
                    filters: [{action: allow, src_ip: 127.0.0.66, methods: [GET]}, read-only]
                  - map: http://closed.example/
                    to: %1$s/
                    filters: first
                  - map: http://open.example/
                    to: %1$s/
                """.formatted(origin.url()));
        proxy = product.launch().config(config).start();
    }

    private static RawResponse ask(String local, String host) throws IOException {
        try (RawClient client = RawClient.connect(local, proxy.port())) {
            return client.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n").response();
        }
    }

    @Test
    void onlyTheAllowedAddressIsServed() throws Exception {
        assertEquals("the origin", ask("127.0.0.1", "closed.example").text());
        RawResponse refused = ask("127.0.0.2", "closed.example");
        assertEquals(403, refused.status());
        assertEquals(
                "millrace; detail=no-filter:remap[3].filters",
                refused.field("Cache-Status").replace("\"", ""));
        assertEquals("the origin", ask("127.0.0.2", "open.example").text());
        assertEquals("the origin", ask("127.0.0.1", "closed.example").text());
    }

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1,  GET,    reading.example, 200, ''",
        "127.0.0.1,  HEAD,   reading.example, 200, ''",
        "127.0.0.1,  POST,   reading.example, 403, filter:read-only",
        "127.0.0.1,  DELETE, reading.example, 403, filter:read-only",
        "127.0.0.66, GET,    reading.example, 403, filter:access.filters[0]",
        "127.0.0.66, GET,    open.example,    403, filter:access.filters[0]",
        "127.0.0.66, GET,    no.example,      403, filter:access.filters[0]",
        "127.0.0.66, GET,    both.example,    200, ''",
        "127.0.0.66, POST,   both.example,    403, filter:read-only",
        "127.0.0.2,  GET,    both.example,    403, no-filter:remap[2].filters",
        "127.0.0.1,  GET,    inside.example,  403, no-filter:remap[1].filters",
        "127.0.0.1,  PUT,    open.example,    200, ''"
    })
    void theFirstFilterThatIsMetDecides(String from, String method, String host, int status, String why)
            throws Exception {
        try (RawClient client = RawClient.connect(from, proxy.port())) {
            client.send(method + " / HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 0\r\n\r\n");
            RawResponse response = method.equals("HEAD") ? client.responseToHead() : client.response();
            assertEquals(status, response.status(), response::toString);
            if (!why.isEmpty()) {
                assertEquals(
                        "millrace; detail=" + why,
                        response.field("Cache-Status").replace("\"", ""));
            }
        }
    }
}
