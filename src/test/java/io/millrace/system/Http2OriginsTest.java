package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests Debian's nginx and nghttpd as HTTP/2 origins, by ALPN and by prior knowledge. */
@Tag("nightly")
class Http2OriginsTest {
    private static final int CLIENTS = 16;
    private static final int REQUESTS = 100;
    private static final int LARGE = 3_000_000;

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static final List<OriginProcess> servers = new ArrayList<>();
    private static Path directory = Path.of("");

    @BeforeAll
    static void makeFiles() throws IOException {
        directory = product.newDirectory();
        SelfSignedCertificate.write(directory, "localhost");
        Files.createDirectories(directory.resolve("www"));
        Files.writeString(directory.resolve("www/small"), "small");
        Files.writeString(directory.resolve("www/large"), "x".repeat(LARGE));
    }

    @AfterAll
    static void stop() {
        servers.forEach(OriginProcess::close);
    }

    /** nginx sends GOAWAY after every tenth request: no request in progress may fail. */
    @ParameterizedTest(name = "{0}, {1}")
    @CsvSource({"nginx, alpn", "nginx, prior_knowledge", "nghttpd, alpn", "nghttpd, prior_knowledge"})
    void everyRequestIsAnswered(String server, String mode) throws Exception {
        boolean secure = mode.equals("alpn");
        OriginProcess origin = server.equals("nginx") ? nginx(secure) : OriginProcess.startNghttpd(directory, secure);
        servers.add(origin);
        int port = origin.port();
        int proxyPort = PackedProduct.freePort();
        Path config = directory.resolve(server + "-" + mode + ".yaml");
        Files.writeString(config, """
                listen: [{address: "127.0.0.1:%d"}]
                cache: {enabled: false}
                origin: {http2: %s, tls: {verify: off}}
                remap: [{map: /, to: "%s://localhost:%d/"}]
                """.formatted(proxyPort, mode, secure ? "https" : "http", port));
        product.launch().config(config).listeningByFile(proxyPort).start();
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        try {
            List<Future<Integer>> answered = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                answered.add(clients.submit(asking(proxyPort)));
            }
            int all = 0;
            for (Future<Integer> each : answered) {
                all += each.get();
            }
            assertEquals(CLIENTS * REQUESTS, all);
        } finally {
            clients.shutdownNow();
        }
        assertEquals(LARGE, RawClient.fetch(proxyPort, "/large").body().length);
        assertEquals(404, RawClient.fetch(proxyPort, "/none").status());
        if (server.equals("nginx")) {
            String log = Files.readString(directory.resolve("access-" + port + ".log"));
            assertEquals(
                    0, log.lines().filter(line -> !line.startsWith("HTTP/2.0")).count(), log);
        }
    }

    private static Callable<Integer> asking(int port) {
        return () -> {
            int good = 0;
            for (int i = 0; i < REQUESTS; i++) {
                good += RawClient.fetch(port, "/small").status() == 200 ? 1 : 0;
            }
            return good;
        };
    }

    private static OriginProcess nginx(boolean secure) throws IOException {
        String nginx = OriginProcess.executable("nginx");
        int port = PackedProduct.freePort();
        Path file = directory.resolve("nginx-" + port + ".conf");
        Files.writeString(file, """
                daemon off;
                master_process off;
                pid nginx-%1$d.pid;
                error_log error-%1$d.log;
                events {}
                http {
                  log_format protocol '$server_protocol $status';
                  access_log access-%1$d.log protocol;
                  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                  uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                  server {
                    listen 127.0.0.1:%1$d %2$s http2;
                    ssl_certificate cert.pem; ssl_certificate_key key.pem;
                    root www;
                    keepalive_requests 10;
                  }
                }
                """.formatted(port, secure ? "ssl" : ""));
        List<String> line = List.of(nginx, "-p", directory.toString(), "-c", file.toString());
        return OriginProcess.start(directory, line, port);
    }
}
