package io.millrace.system;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Debian's nginx as the origin: one process on loopback with its own configuration, files and logs in a temporary
 * directory. It serves the files below {@link #root()} as fresh for an hour, and counts the requests in its access log.
 * Test classes are skipped if nginx is not installed. Confined to one thread.
 */
final class NginxOrigin implements BeforeAllCallback, AfterAllCallback {

    private static final List<String> PLACES =
            List.of("/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx", "/usr/local/nginx/sbin/nginx");
    private static final String FENCE = "/__fence/";

    private Path prefix = Path.of("");
    private int port;
    private int fences;
    private @Nullable Process process;

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        String nginx = PLACES.stream()
                .filter(place -> Files.isExecutable(Path.of(place)))
                .findFirst()
                .orElse("");
        Assumptions.assumeFalse(
                nginx.isEmpty(), "SKIPPED: nginx is not installed; 'apt-get install nginx' or run .ci/run");
        prefix = Files.createTempDirectory("mr-nginx-");
        port = PackedProduct.freePort();
        Files.createDirectories(root());
        Files.writeString(prefix.resolve("nginx.conf"), configuration());
        Process started = new ProcessBuilder(
                        nginx,
                        "-p",
                        prefix.toString(),
                        "-c",
                        prefix.resolve("nginx.conf").toString())
                .redirectErrorStream(true)
                .redirectOutput(prefix.resolve("output.log").toFile())
                .start();
        process = started;
        Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly));
        await("nginx answers").atMost(Duration.ofSeconds(20)).until(() -> {
            if (!started.isAlive()) {
                throw new IllegalStateException("nginx ended: " + Files.readString(prefix.resolve("output.log")));
            }
            return answers();
        });
    }

    private boolean answers() {
        try {
            return RawClient.fetch(port, FENCE + "0").status() == 204;
        } catch (IOException e) {
            return false;
        }
    }

    /** One process and no daemon, so that only its id is needed for the cleanup. */
    private String configuration() {
        return """
                daemon off;
                master_process off;
                pid PREFIX/nginx.pid;
                error_log PREFIX/error.log notice;
                worker_rlimit_nofile 8192;
                events { worker_connections 2048; }
                http {
                  log_format counted '$request_method $request_uri $status';
                  access_log PREFIX/access.log counted;
                  client_body_temp_path PREFIX/body;
                  proxy_temp_path PREFIX/proxy;
                  fastcgi_temp_path PREFIX/fastcgi;
                  uwsgi_temp_path PREFIX/uwsgi;
                  scgi_temp_path PREFIX/scgi;
                  default_type application/octet-stream;
                  types { text/html html htm; text/css css; text/plain txt; application/javascript js; image/png png; }
                  sendfile on;
                  tcp_nopush on;
                  keepalive_requests 1000000;
                  server {
                    listen 127.0.0.1:PORT backlog=2048;
                    root PREFIX/root;
                    expires 1h;
                    location FENCE { return 204; }
                  }
                }
                """.replace("PREFIX", prefix.toString())
                .replace("PORT", Integer.toString(port))
                .replace("FENCE", FENCE);
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        Process started = process;
        if (started != null) {
            stop();
            PackedProduct.delete(prefix);
        }
    }

    /** Ends nginx; its port is closed when this returns. */
    void stop() {
        Process started = process;
        if (started == null) {
            return;
        }
        try {
            started.destroy();
            if (!started.waitFor(20, TimeUnit.SECONDS)) {
                started.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            started.destroyForcibly();
        }
    }

    /** Returns the directory of the served files; a test may add files at any time. */
    Path root() {
        return prefix.resolve("root");
    }

    int port() {
        return port;
    }

    String url() {
        return "http://127.0.0.1:" + port;
    }

    /**
     * Returns every request answered so far as {@code METHOD target status}, in order. A marker request precedes: nginx
     * is one process, so earlier responses are in the log before the marker.
     */
    List<String> requests() {
        try {
            fences++;
            String fence = "GET " + FENCE + fences + " 204";
            RawClient.fetch(port, FENCE + fences);
            Path log = prefix.resolve("access.log");
            await("the fence in nginx's access log")
                    .atMost(Duration.ofSeconds(20))
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> Files.readAllLines(log).contains(fence));
            try (Stream<String> lines = Files.lines(log)) {
                return lines.filter(line -> !line.contains(" " + FENCE)).toList();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
