package io.millrace.wasm;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * An upstream for HTTP calls. Words in the path choose the answer: 401, 403, 302, close (without an answer), cut (in the
 * content), long (2 MiB), hang (until {@link #release}). Others are answered with 200 and the path.
 */
final class CalloutServer implements AutoCloseable {
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch released = new CountDownLatch(1);

    /** The requests: method, path, content, the fields x-key and cookie. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    CalloutServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().toString();
        requests.add(exchange.getRequestMethod() + " " + path + " "
                + new String(exchange.getRequestBody().readAllBytes(), UTF_8) + " "
                + exchange.getRequestHeaders().getFirst("x-key") + " "
                + exchange.getRequestHeaders().getFirst("cookie"));
        try {
            if (path.contains("hang")) {
                released.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (path.contains("close")) {
            exchange.close();
            return;
        }
        byte[] body = path.contains("long") ? new byte[2 << 20] : ("ok" + path).getBytes(UTF_8);
        int status = path.contains("401") ? 401 : path.contains("403") ? 403 : path.contains("302") ? 302 : 200;
        exchange.getResponseHeaders().add("Set-Cookie", "a=b");
        if (status == 302) {
            exchange.getResponseHeaders().add("Location", "/elsewhere");
        }
        boolean isCut = path.contains("cut");
        exchange.sendResponseHeaders(status, isCut ? body.length + 1 : body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    /** The key {@code callouts} of the configuration. */
    String key() {
        return "callouts: {auth: 'http://127.0.0.1:" + server.getAddress().getPort() + "'}";
    }

    /** Answers the requests that hang, and later ones at once. */
    void release() {
        released.countDown();
    }

    @Override
    public void close() {
        release();
        server.stop(0);
        threads.shutdownNow();
    }
}
