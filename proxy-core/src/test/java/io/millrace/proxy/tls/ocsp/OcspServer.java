package io.millrace.proxy.tls.ocsp;

import com.sun.net.httpserver.HttpServer;
import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/** An OCSP responder with its own port that reports one certificate as good. */
public final class OcspServer implements AutoCloseable {
    private final HttpServer server;
    private final AtomicInteger asked = new AtomicInteger();
    private volatile byte[] answer = TestResponder.refusal(3);

    public OcspServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            asked.incrementAndGet();
            byte[] body = answer;
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    }

    /** Answers for a certificate from now on, with the given time. */
    public void answerFor(TestAuthority authority, Made made, Instant now) {
        answer = new TestResponder(authority, made.certificate(), now).answer();
    }

    /** Returns the number of requests since the start. */
    public int asked() {
        return asked.get();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
