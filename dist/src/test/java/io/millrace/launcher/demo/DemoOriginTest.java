package io.millrace.launcher.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemoOriginTest {
    private static final Pattern LINK = Pattern.compile("(?:href|src)=\"(/[^\"]*)\"");

    private static DemoOrigin origin;
    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void start() throws IOException {
        origin = DemoOrigin.start();
    }

    @AfterAll
    static void stop() {
        origin.close();
    }

    @ParameterizedTest
    @CsvSource({
        "/, text/html; charset=utf-8, 'public, max-age=60'",
        "/slow, text/html; charset=utf-8, 'public, max-age=30'",
        "/style.css, text/css; charset=utf-8, 'public, max-age=3600'",
        "/mill.svg, image/svg+xml, 'public, max-age=86400'",
        "/stream.png, image/png, 'public, max-age=86400, immutable'"
    })
    void saysHowLongAPageStaysFresh(String path, String type, String cacheControl) throws Exception {
        HttpResponse<byte[]> response = get(path);

        assertEquals(200, response.statusCode());
        assertEquals(type, field(response, "Content-Type"));
        assertEquals(cacheControl, field(response, "Cache-Control"));
        assertTrue(response.headers().firstValue("ETag").isPresent());
        assertTrue(response.headers().firstValue("Last-Modified").isPresent());
        assertTrue(response.body().length > 100);
    }

    @Test
    void leavesTheLifetimeOfOnePageToTheCache() throws Exception {
        HttpResponse<byte[]> response = get("/guide.html");

        assertTrue(response.headers().firstValue("Last-Modified").isPresent());
        assertTrue(response.headers().firstValue("Cache-Control").isEmpty());
    }

    @Test
    void makesOnePageAnewForEveryRequest() throws Exception {
        HttpResponse<byte[]> first = get("/now");
        HttpResponse<byte[]> second = get("/now");

        assertEquals("no-store", field(first, "Cache-Control"));
        assertNotEquals(text(first), text(second));
        assertFalse(text(first).contains("@"));
    }

    @Test
    void answersConditionalRequestsWith304() throws Exception {
        HttpResponse<byte[]> page = get("/");

        HttpResponse<byte[]> byTag = get("/", "If-None-Match", field(page, "ETag"));
        assertEquals(304, byTag.statusCode());
        assertEquals(field(page, "ETag"), field(byTag, "ETag"));
        assertEquals(
                304, get("/", "If-Modified-Since", field(page, "Last-Modified")).statusCode());
        assertEquals(200, get("/", "If-None-Match", "\"other\"").statusCode());
        assertEquals(
                200,
                get("/", "If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT").statusCode());
    }

    @Test
    void answersHeadWithTheLengthAndNoContent() throws Exception {
        HttpResponse<byte[]> head = client.send(
                HttpRequest.newBuilder(URI.create(origin.url() + "/style.css"))
                        .method("HEAD", HttpRequest.BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofByteArray());

        assertEquals(Integer.toString(get("/style.css").body().length), field(head, "Content-Length"));
        assertEquals(0, head.body().length);
    }

    @Test
    void hasEveryPageThatItLinksTo() throws Exception {
        Matcher link = LINK.matcher(text(get("/")));
        int links = 0;
        while (link.find()) {
            links++;
            assertEquals(200, get(link.group(1)).statusCode(), link.group(1));
        }
        assertTrue(links >= 8);
        assertEquals(404, get("/nothing").statusCode());
    }

    private HttpResponse<byte[]> get(String path, String... fields) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(origin.url() + path));
        if (fields.length > 0) {
            request.headers(fields);
        }
        return client.send(request.build(), BodyHandlers.ofByteArray());
    }

    private static String text(HttpResponse<byte[]> response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    private static String field(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElseThrow();
    }
}
