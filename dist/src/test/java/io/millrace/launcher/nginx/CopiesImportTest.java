package io.millrace.launcher.nginx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.sun.net.httpserver.HttpServer;
import io.millrace.launcher.importing.ImportedRequests;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests with a running proxy which origins get the requests of {@code mirror} and {@code split_clients}. */
final class CopiesImportTest {
    private static final String CLIENT = "192.0.2.1";

    @TempDir
    Path directory;

    private final BlockingQueue<String> first = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> second = new LinkedBlockingQueue<>();
    private HttpServer one;
    private HttpServer two;

    @BeforeEach
    void start() throws IOException {
        one = origin(first);
        two = origin(second);
    }

    @AfterEach
    void stop() {
        one.stop(0);
        two.stop(0);
    }

    private static HttpServer origin(BlockingQueue<String> requests) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        return server;
    }

    private static String address(HttpServer server) {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    private ImportedRequests run(String http, String server) throws IOException {
        Path file = Files.writeString(
                directory.resolve("nginx.conf"),
                ("http {\n" + http + "\nserver {\nlisten 80;\n" + server + "\n}\n}\n")
                        .replace("ONE", address(one))
                        .replace("TWO", address(two)));
        return new ImportedRequests(NginxImport.read(file, null), directory);
    }

    @Test
    void copiesHaveThePathAndTheQueryOfTheClient() throws Exception {
        try (ImportedRequests proxy = run(
                "upstream next { server TWO; }",
                "location / { proxy_pass http://ONE; }\n"
                        + "location /a/ { mirror /copy; proxy_pass http://ONE; }\n"
                        + "location = /copy { internal; proxy_pass http://next$request_uri; }")) {
            assertEquals("204", proxy.status("GET", "/b/1", CLIENT));
            assertEquals("204", proxy.status("GET", "/a/x%20y?z=1", CLIENT));
            assertEquals("GET /a/x%20y?z=1", second.poll(20, TimeUnit.SECONDS));
            assertEquals("404", proxy.status("GET", "/copy", CLIENT));
            assertEquals("GET /b/1", first.poll());
            assertEquals("GET /a/x%20y?z=1", first.poll());
            assertNull(first.poll());
        }
    }

    @Test
    void clientsKeepTheirBranch() throws Exception {
        try (ImportedRequests proxy = run(
                "split_clients \"${cookie_uid}salt\" $to { 50% TWO; * ONE; }",
                "location / { proxy_pass http://$to; }")) {
            for (int i = 0; i < 20; i++) {
                String path = "/" + i;
                String cookie = "Cookie: uid=" + i;
                assertEquals("204", proxy.status("GET", path, CLIENT, cookie));
                assertEquals("204", proxy.status("GET", path, CLIENT, cookie));
            }
        }
        assertFalse(first.isEmpty());
        assertFalse(second.isEmpty());
        assertEquals(40, first.size() + second.size());
        first.removeIf(second::contains);
        assertEquals(40, first.size() + second.size(), "requests of one client at both origins");
    }
}
