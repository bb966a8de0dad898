package io.millrace.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the examples in a proxy that loads their jar. */
class ExamplesTest {
    private final HttpClient client = HttpClient.newHttpClient();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final AtomicInteger questions = new AtomicInteger();
    private HttpServer origin;
    private ProxyServer proxy;

    @BeforeEach
    void startOrigin() throws IOException {
        origin = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        origin.createContext("/", exchange -> {
            String variant = exchange.getRequestHeaders().getFirst("X-Variant");
            asked.add(exchange.getRequestURI() + " " + variant);
            send(exchange, 200, "text/plain", "variant " + variant, 0);
        });
        origin.createContext(
                "/page",
                exchange -> send(exchange, 200, "text/html; charset=utf-8", "<html><BODY>hi</BODY></html>", 7));
        origin.createContext("/part", exchange -> send(exchange, 200, "text/html", "<p>no end</bo", 0));
        origin.createContext("/check", exchange -> {
            questions.incrementAndGet();
            String token = exchange.getRequestHeaders().getFirst("Authorization");
            boolean mayRead = "Bearer good".equals(token)
                    && exchange.getRequestHeaders().getFirst("X-Original-URL").endsWith("/doc");
            int status = "Bearer ill".equals(token) ? 500 : "Bearer other".equals(token) ? 403 : mayRead ? 204 : 401;
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        origin.start();
    }

    private static void send(HttpExchange exchange, int status, String type, String text, int chunk)
            throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.getResponseHeaders().set("Cache-Control", "public, max-age=600");
        exchange.sendResponseHeaders(status, chunk == 0 ? bytes.length : 0);
        try (OutputStream out = exchange.getResponseBody()) {
            for (int at = 0; at < bytes.length; at += Math.max(1, chunk == 0 ? bytes.length : chunk)) {
                out.write(bytes, at, Math.min(chunk == 0 ? bytes.length : chunk, bytes.length - at));
                out.flush();
            }
        }
    }

    @AfterEach
    void stop() {
        if (proxy != null) {
            proxy.close();
        }
        origin.stop(0);
    }

    private String address() {
        return "http://127.0.0.1:" + origin.getAddress().getPort();
    }

    /** Starts a proxy with one example of the jar. */
    private void start(Class<?> example, String config) throws IOException {
        String jar = System.getProperty("millrace.examples.jar", "target/millrace-examples.jar");
        String text = "listen: ['127.0.0.1:0']\nworker: {event_loops: 1}\nlog: {access: {enabled: false}}\n"
                + "remap: [{map: /, to: '" + address() + "/'}]\n"
                + "extensions: [{name: example, jar: '" + jar + "', class: " + example.getName() + ", config: " + config
                + "}]\n";
        ConfigResult result = ConfigLoader.parse(text, "millrace.yaml", Map.of());
        assertNotNull(result.config(), result::text);
        proxy = ProxyServer.builder().config(result.config()).start();
    }

    private HttpResponse<String> get(String path, String... fields) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + proxy.addresses().get(0).getPort() + path);
        HttpRequest.Builder request = HttpRequest.newBuilder(uri);
        for (int i = 0; i < fields.length; i += 2) {
            request.header(fields[i], fields[i + 1]);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String field(HttpResponse<String> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    @Test
    void theVariantsOfAnAbTestAreStoredSeparately() throws Exception {
        start(AbTest.class, "{cookie: v, variants: [{name: old, share: 1}, {name: new, share: 0}]}");
        HttpResponse<String> first = get("/a");
        assertEquals("variant old", first.body());
        assertEquals("v=old; Path=/; Max-Age=31536000; SameSite=Lax", field(first, "Set-Cookie"));
        HttpResponse<String> other = get("/a", "Cookie", "x=1; v=new");
        assertEquals("variant new", other.body());
        assertEquals("", field(other, "Set-Cookie"));
        assertEquals("variant old", get("/a", "Cookie", "v=old").body());
        assertEquals("variant old", get("/a", "Cookie", "v=unknown").body());
        assertEquals("variant new", get("/a", "Cookie", "v=new").body());
        assertEquals(List.of("/a old", "/a new"), asked, "one fetch for each variant");
    }

    @Test
    void anAbTestNamesFaultsOfItsConfiguration() {
        String message = assertThrows(
                        IOException.class, () -> start(AbTest.class, "{variants: [{name: a}, {name: 'b c'}]}"))
                .getMessage();
        assertTrue(
                message.matches("millrace.yaml:5:\\d+: extension example: config.variants\\[1].name: 'b c' is not .*"),
                message);
    }

    @Test
    void theServiceDecidesOnceForEachToken() throws Exception {
        start(ExternalAuthorization.class, "{service: '" + address() + "/check', realm: docs}");
        HttpResponse<String> without = get("/doc");
        assertEquals(401, without.statusCode());
        assertEquals("Bearer realm=\"docs\"", field(without, "WWW-Authenticate"));
        assertEquals(0, questions.get());
        assertEquals(200, get("/doc", "Authorization", "Bearer good").statusCode());
        assertEquals(200, get("/doc", "Authorization", "Bearer good").statusCode());
        assertEquals(1, questions.get());
        HttpResponse<String> other = get("/doc", "Authorization", "Bearer other");
        assertEquals(403, other.statusCode());
        assertEquals("the token does not permit this\n", other.body());
        assertTrue(field(other, "Cache-Status").contains("detail=extension:example"), other.headers()::toString);
        assertEquals(401, get("/doc", "Authorization", "Bearer wrong").statusCode());
        assertEquals(401, get("/doc/more", "Authorization", "Bearer good").statusCode());
        assertEquals(4, questions.get());
        assertTrue(proxy.metricsText().contains("extension=\"example\""), proxy.metricsText());
    }

    @Test
    void withoutAnAnswerOfTheServiceTheRequestIsRefused() throws Exception {
        start(ExternalAuthorization.class, "{service: '" + address() + "/check'}");
        assertEquals(503, get("/doc", "Authorization", "Bearer ill").statusCode());
        assertEquals(503, get("/doc", "Authorization", "Bearer ill").statusCode());
        assertEquals(2, questions.get(), "a failure is not remembered");
        assertEquals(List.of(), asked, "the origin gets no request");
    }

    @Test
    void theCommentIsPutBeforeTheEndTag() throws Exception {
        start(HtmlComment.class, "{text: from the edge}");
        String expected = "<html><BODY>hi<!-- from the edge --></BODY></html>";
        assertEquals(expected, get("/page").body());
        HttpResponse<String> hit = get("/page");
        assertEquals(expected, hit.body());
        assertTrue(field(hit, "Cache-Status").contains("hit"), hit.headers()::toString);
        assertEquals("<p>no end</bo<!-- from the edge -->", get("/part").body());
        assertEquals("variant null", get("/text").body());
        assertNotEquals("", field(hit, "Age"));
    }

    @Test
    void textsThatWouldEndTheCommentAreRefused() {
        assertThrows(IOException.class, () -> start(HtmlComment.class, "{text: 'a --> b'}"));
    }
}
