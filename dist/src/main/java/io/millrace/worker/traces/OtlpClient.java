package io.millrace.worker.traces;

import io.millrace.proxy.Version;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.trace.TraceConfig;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/** Sends requests to the collector by HTTP/1.1 on one persistent connection. Confined to one thread. */
final class OtlpClient implements AutoCloseable {
    private static final String PATH = "/v1/traces";
    private static final int GZIP_PART_BYTES = 8 << 10;
    /**
     * Compression makes some content longer, by less than a thousandth of its length plus the bytes of {@link
     * #GZIP_MORE_BYTES}.
     */
    private static final int GZIP_SHARE = 1000;

    private static final int GZIP_MORE_BYTES = 64;

    private final OtlpConnection connection;
    private final URI url;
    private final boolean compresses;
    private final Supplier<Map<String, String>> fields;
    private ByteBuf content = Unpooled.EMPTY_BUFFER;

    /**
     * Creates a client with the usual limit for each request, 10 s. Does not connect yet.
     *
     * @param tls null for http
     * @param fields returns further header fields for each request
     */
    OtlpClient(URI url, @Nullable SslContext tls, boolean compresses, Supplier<Map<String, String>> fields) {
        this(url, tls, compresses, fields, OtlpConnection.TIMEOUT);
    }

    /** Creates a client with a limit for each request. Does not connect yet. */
    OtlpClient(
            URI url,
            @Nullable SslContext tls,
            boolean compresses,
            Supplier<Map<String, String>> fields,
            Duration timeout) {
        this.connection = new OtlpConnection(url, tls, timeout);
        this.url = url;
        this.compresses = compresses;
        this.fields = fields;
    }

    /**
     * Creates a client. Does not connect yet.
     *
     * @throws IOException if a file of the settings cannot be read or used
     */
    static OtlpClient open(String endpoint, TraceConfig config, FaultLog faults) throws IOException {
        Path headers = config.headersFile();
        URI url = URI.create(withPath(endpoint));
        SslContext tls = tls(config);
        return new OtlpClient(
                url,
                "https".equalsIgnoreCase(url.getScheme()) ? tls : null,
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

    private static SslContext tls(TraceConfig config) throws IOException {
        Path authorities = config.caFile();
        Path certificate = config.certificate();
        Path key = config.key();
        SslContextBuilder builder = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .protocols("TLSv1.3", "TLSv1.2")
                .endpointIdentificationAlgorithm("HTTPS");
        try {
            if (authorities != null) {
                builder.trustManager(authorities.toFile());
            }
            if (certificate != null && key != null) {
                builder.keyManager(certificate.toFile(), key.toFile());
            }
            return builder.build();
        } catch (IllegalArgumentException e) {
            throw new IOException("the TLS files of traces.tls cannot be used: " + e.getMessage(), e);
        }
    }

    /** The URL of the collector. */
    URI url() {
        return url;
    }

    /** Returns the content of a request, compressed if the settings say so. Valid until the next call; borrowed. */
    ByteBuf body(byte[] bytes, int from, int length) throws IOException {
        ByteBuf empty = empty(length);
        if (!compresses) {
            return empty.writeBytes(bytes, from, length);
        }
        try (OutputStream gzip = new FastGzip(new ByteBufOutputStream(empty))) {
            gzip.write(bytes, from, length);
        }
        return empty;
    }

    /**
     * Returns an empty buffer in direct memory: sockets would copy an array again after each partial write. The garbage
     * collector frees it.
     */
    private ByteBuf empty(int length) {
        // If the last request ended without an answer, or the collector did not read all of it, its connection may
        // still use the buffer.
        int needed = length + (compresses ? length / GZIP_SHARE + GZIP_MORE_BYTES : 0);
        if (content.refCnt() > 1 || content.capacity() < needed) {
            // The garbage collector can then free the smaller buffer before the larger one is allocated.
            content = Unpooled.EMPTY_BUFFER;
            content = Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(needed + needed / 2));
        }
        return content.clear();
    }

    /**
     * Sends a request and waits for the answer, at most for the timeout.
     *
     * @param body result of {@link #body}; borrowed
     * @throws IOException if there is no answer
     */
    OtlpAnswer post(ByteBuf body) throws IOException, InterruptedException {
        String query = url.getRawQuery();
        HttpHeaders head = new DefaultHttpHeaders()
                .set(HttpHeaderNames.HOST, url.getPort() < 0 ? url.getHost() : url.getHost() + ":" + url.getPort())
                .set(HttpHeaderNames.CONTENT_TYPE, "application/x-protobuf")
                .set(HttpHeaderNames.USER_AGENT, "Millrace/" + Version.current())
                .set(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
        if (compresses) {
            head.set(HttpHeaderNames.CONTENT_ENCODING, "gzip");
        }
        fields.get().forEach(head::set);
        return connection.exchange(new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1,
                HttpMethod.POST,
                query == null ? url.getRawPath() : url.getRawPath() + "?" + query,
                body.retainedDuplicate(),
                head,
                EmptyHttpHeaders.INSTANCE));
    }

    /** Returns true if the next request needs a new connection. */
    boolean isUnconnected() {
        return connection.isUnconnected();
    }

    /** Closes the connection. */
    @Override
    public void close() {
        connection.close();
    }

    /** Compresses at the fastest level, because CPU time counts more than bytes here. */
    private static final class FastGzip extends GZIPOutputStream {
        FastGzip(OutputStream out) throws IOException {
            super(out, GZIP_PART_BYTES);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }
}
