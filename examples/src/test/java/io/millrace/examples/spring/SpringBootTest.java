package io.millrace.examples.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Tests a proxy inside an application of Spring Boot, and the page that shows it. */
class SpringBootTest {
    private static final Path PAGE = Path.of("..", "docs", "guide", "embedding.md");
    private static final Path SOURCE =
            Path.of("src", "test", "java", "io", "millrace", "examples", "spring", "CachingProxy.java");
    private static final String FENCE = "```java spring\n";

    private final HttpClient client = HttpClient.newHttpClient();

    private HttpResponse<String> send(int port, HttpRequest.Builder request, String target)
            throws IOException, InterruptedException {
        return client.send(
                request.uri(URI.create("http://127.0.0.1:" + port + target)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(int port) throws IOException, InterruptedException {
        return send(port, HttpRequest.newBuilder(), "/price");
    }

    @Test
    void aProxyIsAPartOfASpringBootApplication() throws Exception {
        int port;
        MeterRegistry meters;
        try (ConfigurableApplicationContext context =
                SpringApplication.run(ShopApplication.class, "--server.port=0", "--proxy.listen=127.0.0.1:0")) {
            port = context.getBean(CachingProxy.class).port();
            meters = context.getBean(MeterRegistry.class);
            assertEquals("10 at request 1", get(port).body());
            HttpResponse<String> hit = get(port);
            assertEquals("10 at request 1", hit.body());
            assertEquals("corner", hit.headers().firstValue("X-Shop").orElse(""));
            assertTrue(hit.headers().firstValue("Cache-Status").orElse("").contains("hit"), hit.headers()::toString);
            assertEquals(
                    200,
                    send(port, HttpRequest.newBuilder().POST(HttpRequest.BodyPublishers.noBody()), "/price?value=12")
                            .statusCode());
            assertEquals("12 at request 2", get(port).body());
            assertTrue(meters.find("millrace_requests_total").functionCounters().stream()
                            .mapToDouble(FunctionCounter::count)
                            .sum()
                    >= 4);
        }
        assertThrows(ConnectException.class, () -> get(port));
        assertEquals(
                List.of(),
                Thread.getAllStackTraces().keySet().stream()
                        .map(Thread::getName)
                        .filter(name -> name.startsWith("millrace-"))
                        .toList());
        assertEquals(
                0, meters.find("millrace_requests_total").functionCounters().size());
    }

    /** The page shows the class of this test, without its package. */
    @Test
    void thePageShowsTheTestedClass() throws Exception {
        String page = Files.readString(PAGE);
        int start = page.indexOf(FENCE) + FENCE.length();
        assertTrue(start >= FENCE.length(), "no block of Spring");
        String source = Files.readString(SOURCE);
        assertEquals(source.substring(source.indexOf("import ")), page.substring(start, page.indexOf("```", start)));
    }
}
