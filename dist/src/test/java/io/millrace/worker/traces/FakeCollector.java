package io.millrace.worker.traces;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTracePartialSuccess;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLContext;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A collector in this JVM, which decodes OTLP over HTTP. Thread-safe. */
public final class FakeCollector implements AutoCloseable {
    private final HttpServer server;
    private final String scheme;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Span> spans = new ArrayList<>();
    private final List<Map<String, String>> heads = new ArrayList<>();
    private Resource resource = Resource.getDefaultInstance();
    private int status = 200;
    private int failures;
    private @Nullable String retryAfter;
    private ExportTraceServiceResponse answer = ExportTraceServiceResponse.getDefaultInstance();

    /** Starts a collector on a free port. {@code tls} is null for one without TLS. */
    public FakeCollector(@Nullable SSLContext tls) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        if (tls == null) {
            server = HttpServer.create(address, 0);
        } else {
            HttpsServer secure = HttpsServer.create(address, 0);
            secure.setHttpsConfigurator(new HttpsConfigurator(tls));
            server = secure;
        }
        scheme = tls == null ? "http" : "https";
        server.createContext("/", this::handle);
        server.setExecutor(threads);
        server.start();
    }

    /** Returns the URL of the collector by a name of this machine, without a path. */
    public String url(String host) {
        return scheme + "://" + host + ":" + server.getAddress().getPort();
    }

    /** Makes the next requests fail. */
    public synchronized void fail(int count, int with) {
        failures = count;
        status = with;
    }

    /** Sets the field Retry-After of failures. */
    public synchronized void retryAfter(String value) {
        retryAfter = value;
    }

    /** Makes the collector answer that it did not take some spans. It keeps all of them here. */
    public synchronized void reject(long rejected, String message) {
        answer = ExportTraceServiceResponse.newBuilder()
                .setPartialSuccess(ExportTracePartialSuccess.newBuilder()
                        .setRejectedSpans(rejected)
                        .setErrorMessage(message))
                .build();
    }

    private void handle(HttpExchange exchange) throws IOException {
        boolean isGzip = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
        ExportTraceServiceRequest request;
        try (InputStream body = exchange.getRequestBody();
                InputStream content = isGzip ? new GZIPInputStream(body) : body) {
            request = ExportTraceServiceRequest.parseFrom(content);
        }
        int taken = take(exchange, request);
        byte[] content = content();
        exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
        exchange.sendResponseHeaders(taken, content.length == 0 ? -1 : content.length);
        exchange.getResponseBody().write(content);
        exchange.close();
    }

    private synchronized byte[] content() {
        return answer.toByteArray();
    }

    private synchronized int take(HttpExchange exchange, ExportTraceServiceRequest request) {
        Map<String, String> head = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        exchange.getRequestHeaders().forEach((name, values) -> head.put(name, values.get(0)));
        head.put(":path", exchange.getRequestURI().getPath());
        heads.add(head);
        if (failures > 0) {
            failures--;
            if (retryAfter != null) {
                exchange.getResponseHeaders().set("Retry-After", retryAfter);
            }
            return status;
        }
        for (ResourceSpans each : request.getResourceSpansList()) {
            resource = each.getResource();
            for (ScopeSpans scope : each.getScopeSpansList()) {
                spans.addAll(scope.getSpansList());
            }
        }
        return 200;
    }

    /** The spans so far. */
    public synchronized List<Span> spans() {
        return List.copyOf(spans);
    }

    /** The heads of the requests, with the path as {@code :path}. */
    public synchronized List<Map<String, String>> heads() {
        return List.copyOf(heads);
    }

    /** The resource of the last request. */
    public synchronized Resource resource() {
        return resource;
    }

    /** Waits for a span that fulfils the condition. */
    public Span await(String what, Predicate<Span> condition) {
        Awaitility.await(what).atMost(Duration.ofSeconds(60)).until(() -> spans().stream()
                .anyMatch(condition));
        return spans().stream().filter(condition).findFirst().orElseThrow();
    }

    /** Returns an attribute as text; an empty text if it is absent. */
    public static String attribute(List<KeyValue> attributes, String name) {
        for (KeyValue each : attributes) {
            if (each.getKey().equals(name)) {
                return switch (each.getValue().getValueCase()) {
                    case STRING_VALUE -> each.getValue().getStringValue();
                    case INT_VALUE -> Long.toString(each.getValue().getIntValue());
                    case BOOL_VALUE -> Boolean.toString(each.getValue().getBoolValue());
                    default -> throw new AssertionError(Arrays.toString(attributes.toArray()));
                };
            }
        }
        return "";
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
