package io.millrace.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.millrace.acme.AskClient.Answer;
import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.tls.AcmeConfig;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests certificates on demand, with a real permission service and an issuer in memory. */
class OnDemandTest {
    private static final String NAME = "new.example.com";
    private static final long DAY = 86_400;

    @TempDir
    Path directory;

    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger status = new AtomicInteger(200);
    private final AtomicInteger orders = new AtomicInteger();
    private boolean issuerFails;
    private long seconds = 1_800_000_000;
    private HttpServer http;
    private AcmeService service;

    @BeforeEach
    void start() throws IOException {
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.createContext("/may", exchange -> {
            asked.add(exchange.getRequestURI().getRawQuery());
            exchange.getResponseHeaders().add("Location", "/yes");
            exchange.sendResponseHeaders(status.get(), -1);
            exchange.close();
        });
        http.createContext("/yes", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        http.start();
        CertificateIssuer issuer = new CertificateIssuer() {
            @Override
            public Issued issue(AcmeConfig.Issuer by, String name, @Nullable String previousPem)
                    throws IssuanceException {
                orders.incrementAndGet();
                if (issuerFails) {
                    throw new IssuanceException("refused", true, 0, new IOException());
                }
                return new Issued("certificate " + orders.get(), seconds + 90 * DAY);
            }

            @Override
            public @Nullable SuggestedRenewal suggestedRenewal(AcmeConfig.Issuer by, String pem) {
                return null;
            }
        };
        AcmeConfig config = ProxyConfig.builder()
                .set("tls.acme.accept_terms", "true")
                .set("tls.acme.on_demand.ask", url("/may"))
                .build()
                .acme()
                .storedIn(directory);
        service = new AcmeService(() -> config, () -> seconds * 1000, (settings, storage) -> issuer, Runnable::run);
        service.tick();
    }

    @AfterEach
    void stop() {
        service.close();
        http.stop(0);
    }

    private String url(String path) {
        return "http://127.0.0.1:" + http.getAddress().getPort() + path;
    }

    /** Requests a certificate as a worker does; returns after the launcher's decision. */
    private void request(String name) throws IOException {
        Path request = new AcmeFiles(directory).requests().resolve(name);
        Files.createFile(request);
        awaitTicks(() -> Files.notExists(request));
    }

    private void awaitTicks(BooleanSupplier condition) {
        Awaitility.await().until(() -> {
            service.tick();
            return condition.getAsBoolean();
        });
    }

    /**
     * Waits until the service was asked and its answer is handled, at the present time of the clock. The file of a
     * request stays while an answer is due, and is deleted afterwards.
     */
    private void awaitAnswer(int number) throws IOException {
        awaitTicks(() -> asked.size() == number);
        request(NAME);
    }

    private Path certificate() {
        return new AcmeFiles(directory).certificates().resolve(NAME + ".pem");
    }

    @ParameterizedTest
    @CsvSource({"200, true", "204, false", "302, false", "403, false", "500, false"})
    void onlyTheStatus200PermitsACertificate(int answer, boolean issued) throws IOException {
        status.set(answer);
        request(NAME);
        assertEquals(List.of("domain=" + NAME), asked);
        assertEquals(issued, Files.exists(certificate()));
    }

    @Test
    void nothingIsAskedAboutNamesThatNoIssuerTakes() throws IOException {
        request("localhost");
        request("-x.example.com");
        assertEquals(List.of(), asked);
    }

    @Test
    void orderThatFailedIsNotRepeatedBeforeItsPauseEnds() throws IOException {
        issuerFails = true;
        request(NAME);
        request(NAME);
        assertEquals(1, orders.get());
        seconds += 60;
        request(NAME);
        assertEquals(2, orders.get());
    }

    @Test
    void renewalNeedsThePermissionToo() throws IOException {
        request(NAME);
        status.set(403);
        seconds += 60 * DAY;
        awaitAnswer(2);
        service.tick();
        seconds += 3600;
        service.tick();
        assertEquals(2, asked.size(), "a refusal holds for a day");
        assertEquals(1, orders.get());
        status.set(500);
        seconds += 2 * DAY;
        awaitAnswer(3);
        status.set(200);
        seconds += 31 * DAY;
        awaitTicks(() -> {
            // The clock passes the pause that follows a missing answer.
            seconds += 60;
            return orders.get() == 2;
        });
        assertEquals("certificate 2", Files.readString(certificate()), "renewed though it had ended meanwhile");
    }

    @Test
    void nothingIsAskedAboutACertificateThatEndedLongAgo() throws IOException {
        request(NAME);
        seconds += 121 * DAY;
        awaitTicks(() -> Files.notExists(certificate()));
        assertEquals(1, asked.size());
        request(NAME);
        assertEquals("certificate 2", Files.readString(certificate()));
    }

    @Test
    void serviceThatIsDownPermitsNothing() throws IOException {
        http.stop(0);
        request(NAME);
        assertEquals(0, orders.get());
    }

    @Test
    void answerWithoutAnEndDoesNotBlock() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
                try (var client = socket.accept()) {
                    client.getOutputStream()
                            .write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nx"
                                    .getBytes(StandardCharsets.US_ASCII));
                    client.getInputStream().transferTo(OutputStream.nullOutputStream());
                } catch (IOException e) {
                    // The client disconnects.
                }
            });
            AskClient client = new AskClient("http://127.0.0.1:" + socket.getLocalPort() + "/", null);
            assertEquals(Answer.YES, client.permits(NAME));
            served.join();
            assertTrue(served.isDone());
        }
    }
}
