package io.millrace.worker.traces;

import io.millrace.proxy.Version;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.trace.TraceConfig;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Sends requests to the collector by HTTP/1.1 on one persistent connection. Confined to one thread. */
final class OtlpClient {
    private static final long TIMEOUT_SECONDS = 10;
    private static final String PATH = "/v1/traces";
    private static final ByteBuffer NONE = ByteBuffer.allocate(0);

    private final HttpClient client;
    private final URI url;
    private final boolean compresses;
    private final Supplier<Map<String, String>> fields;
    private final ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    private ByteBuffer content = NONE;

    /** Creates a client. {@code fields} returns further header fields for each request. */
    OtlpClient(HttpClient client, URI url, boolean compresses, Supplier<Map<String, String>> fields) {
        this.client = client;
        this.url = url;
        this.compresses = compresses;
        this.fields = fields;
    }

    /**
     * Creates a client. Connects not yet.
     *
     * @throws IOException if a file of the settings cannot be read or used
     */
    static OtlpClient open(String endpoint, TraceConfig config, FaultLog faults) throws IOException {
        Path headers = config.headersFile();
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(TIMEOUT_SECONDS));
        SSLContext tls = tls(config);
        if (tls != null) {
            builder.sslContext(tls);
        }
        return new OtlpClient(
                builder.build(),
                URI.create(withPath(endpoint)),
                config.compression() == TraceConfig.Compression.GZIP,
                headers == null ? Map::of : HeadersFile.open(headers, faults));
    }

    /** Returns the URL with the path of OTLP, if it has no path. */
    static String withPath(String endpoint) {
        String path = URI.create(endpoint).getRawPath();
        if (path != null && path.length() > 1) {
            return endpoint;
        }
        return (endpoint.endsWith("/") ? endpoint.substring(0, endpoint.length() - 1) : endpoint) + PATH;
    }

    private static @Nullable SSLContext tls(TraceConfig config) throws IOException {
        Path authorities = config.caFile();
        Path certificate = config.certificate();
        Path key = config.key();
        if (authorities == null && (certificate == null || key == null)) {
            return null;
        }
        SslContextBuilder builder =
                SslContextBuilder.forClient().sslProvider(SslProvider.JDK).protocols("TLSv1.3", "TLSv1.2");
        try {
            if (authorities != null) {
                builder.trustManager(authorities.toFile());
            }
            if (certificate != null && key != null) {
                builder.keyManager(certificate.toFile(), key.toFile());
            }
            return ((JdkSslContext) builder.build()).context();
        } catch (IllegalArgumentException e) {
            throw new IOException("the TLS files of traces.tls cannot be used: " + e.getMessage(), e);
        }
    }

    /** The URL of the collector. */
    URI url() {
        return url;
    }

    /** Returns the content of a request, compressed if the settings say so. Valid until the next call. */
    BodyPublisher body(byte[] bytes, int from, int length) throws IOException {
        if (!compresses) {
            return copied(bytes, from, length);
        }
        compressed.reset();
        try (OutputStream gzip = new FastGzip(compressed)) {
            gzip.write(bytes, from, length);
        }
        byte[] result = compressed.toByteArray();
        return copied(result, 0, result.length);
    }

    private DirectBody copied(byte[] bytes, int from, int length) {
        if (content.capacity() < length) {
            // The garbage collector can then free the smaller buffer before the larger one is allocated.
            content = NONE;
            content = ByteBuffer.allocateDirect(length + length / 2);
        }
        content.clear().put(bytes, from, length).flip();
        return new DirectBody(content);
    }

    /**
     * Sends a request and waits for the answer, at most 10 s. Without an answer, the JDK's client may still read the
     * content, so the next content gets another buffer.
     *
     * @throws IOException if there is no answer
     */
    OtlpAnswer post(BodyPublisher body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(url)
                .setHeader("Content-Type", "application/x-protobuf")
                .setHeader("User-Agent", "Millrace/" + Version.current())
                .POST(body);
        if (compresses) {
            request.setHeader("Content-Encoding", "gzip");
        }
        fields.get().forEach(request::setHeader);
        CompletableFuture<HttpResponse<byte[]>> answering =
                client.sendAsync(request.build(), head -> new LimitedBody());
        boolean isAnswered = false;
        try {
            HttpResponse<byte[]> answer = answering.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            isAnswered = true;
            return new OtlpAnswer(
                    answer.statusCode(),
                    OtlpAnswer.retryAfterNanos(
                            answer.headers().firstValue("Retry-After").orElse(null), Instant.now()),
                    PartialSuccess.decode(answer.body()));
        } catch (TimeoutException e) {
            throw new IOException("no answer within " + TIMEOUT_SECONDS + " s", e);
        } catch (ExecutionException e) {
            throw new IOException(text(e.getCause()), e.getCause());
        } finally {
            answering.cancel(true);
            if (!isAnswered) {
                content = NONE;
            }
        }
    }

    /** Returns the text of a failure; without the message if this can contain the value of a header field. */
    private static String text(@Nullable Throwable failure) {
        return failure instanceof RuntimeException ? failure.getClass().getName() : String.valueOf(failure);
    }

    /** Compresses at the fastest level, because CPU time counts more than bytes here. */
    private static final class FastGzip extends GZIPOutputStream {
        FastGzip(OutputStream out) throws IOException {
            super(out);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }
}
