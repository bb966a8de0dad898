package io.millrace.launcher.demo;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.http.HttpDates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The origin server of the demonstration site. Its pages have different {@code Cache-Control} fields and validators;
 * one page is slow, and one cannot be cached. Listens at a loopback address, at a port that the system chooses.
 *
 * <p>Thread-safe: pages are immutable, all other state is atomic.
 */
public final class DemoOrigin implements AutoCloseable {
    /** Delay of the response for {@code /slow}. */
    private static final long SLOW_MILLIS = 2000;

    private final HttpServer server;
    private final ScheduledExecutorService threads;
    private final Map<String, DemoPage> pages;
    private final DemoPage timePage;
    private final DemoPage notFoundPage;
    private final long lastModified;
    private final AtomicLong requests = new AtomicLong();

    /** Starts the site. */
    public static DemoOrigin start() throws IOException {
        // Without this property the JDK's server delays small responses by 40 ms (Nagle's algorithm).
        System.setProperty("sun.net.httpserver.nodelay", "true");
        return new DemoOrigin(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128));
    }

    private DemoOrigin(HttpServer server) throws IOException {
        this.server = server;
        threads = Executors.newScheduledThreadPool(2, task -> {
            Thread thread = new Thread(task, "demo-origin");
            thread.setDaemon(true);
            return thread;
        });
        String html = "text/html; charset=utf-8";
        pages = Map.of(
                "/", DemoPage.read("index.html", html, "public, max-age=60"),
                "/guide.html", DemoPage.read("guide.html", html, null),
                "/slow", DemoPage.read("slow.html", html, "public, max-age=30"),
                "/style.css", DemoPage.read("style.css", "text/css; charset=utf-8", "public, max-age=3600"),
                "/mill.svg", DemoPage.read("mill.svg", "image/svg+xml", "public, max-age=86400"),
                "/stream.png", DemoPage.read("stream.png", "image/png", "public, max-age=86400, immutable"));
        timePage = DemoPage.read("now.html", html, "no-store");
        notFoundPage = DemoPage.read("missing.html", html, "public, max-age=10");
        // With this age, the heuristic freshness lifetime of a page without max-age is a few hours.
        lastModified = Instant.now().minus(2, ChronoUnit.DAYS).getEpochSecond();
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** The base URL, for example {@code http://127.0.0.1:40123}. */
    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private void handle(HttpExchange exchange) throws IOException {
        long request = requests.incrementAndGet();
        String method = exchange.getRequestMethod();
        if (!method.equals("GET") && !method.equals("HEAD")) {
            exchange.getResponseHeaders().set("Allow", "GET, HEAD");
            exchange.sendResponseHeaders(405, -1);
            exchange.close();
            return;
        }
        String path = exchange.getRequestURI().getPath();
        if (path.equals("/now")) {
            String time = HttpDates.format(Instant.now().getEpochSecond());
            answer(exchange, 200, timePage.with("time", time).with("requests", Long.toString(request)), false);
            return;
        }
        @Nullable DemoPage page = pages.get(path.equals("/index.html") ? "/" : path);
        if (page == null) {
            answer(exchange, 404, notFoundPage, false);
        } else if (path.equals("/slow")) {
            var unused = threads.schedule(
                    () -> {
                        answer(exchange, 200, page, true);
                        return page;
                    },
                    SLOW_MILLIS,
                    TimeUnit.MILLISECONDS);
        } else {
            answer(exchange, 200, page, true);
        }
    }

    private void answer(HttpExchange exchange, int status, DemoPage page, boolean hasValidators) throws IOException {
        try (exchange) {
            Headers fields = exchange.getResponseHeaders();
            if (page.cacheControl() != null) {
                fields.set("Cache-Control", page.cacheControl());
            }
            if (hasValidators) {
                fields.set("ETag", page.entityTag());
                fields.set("Last-Modified", HttpDates.format(lastModified));
                if (isUnchanged(exchange.getRequestHeaders(), page)) {
                    exchange.sendResponseHeaders(304, -1);
                    return;
                }
            }
            fields.set("Content-Type", page.contentType());
            if (exchange.getRequestMethod().equals("HEAD")) {
                fields.set("Content-Length", Integer.toString(page.content().length));
                exchange.sendResponseHeaders(status, -1);
            } else {
                exchange.sendResponseHeaders(status, page.content().length);
                exchange.getResponseBody().write(page.content());
            }
        }
    }

    /**
     * Returns true if the client's copy is current. If-None-Match takes precedence over If-Modified-Since (RFC 9110
     * section 13.1).
     */
    private boolean isUnchanged(Headers request, DemoPage page) {
        @Nullable String tags = request.getFirst("If-None-Match");
        if (tags != null) {
            return tags.strip().equals("*") || tags.contains(page.entityTag());
        }
        @Nullable String since = request.getFirst("If-Modified-Since");
        if (since == null) {
            return false;
        }
        byte[] date = since.strip().getBytes(StandardCharsets.US_ASCII);
        long seconds = HttpDates.parse(date, 0, date.length, Instant.now().getEpochSecond());
        return seconds != HttpDates.INVALID && lastModified <= seconds;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
