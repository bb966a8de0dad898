package io.millrace.worker.traces;

import io.millrace.proxy.Version;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.trace.Span;
import io.millrace.proxy.observe.trace.SpanCounts;
import io.millrace.proxy.observe.trace.SpanSink;
import io.millrace.proxy.observe.trace.TraceConfig;
import io.netty.util.NetUtil;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.exporter.internal.FailedExportException.HttpExportException;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.HttpResponse;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends spans to a collector by OTLP over HTTP, in batches. The OpenTelemetry SDK repeats a failed request up to five
 * times, within about ten seconds. Meanwhile the queue fills; when it is full, further spans are dropped and counted.
 *
 * <p>{@link #accept} and {@link #close} are called by one thread; a thread of this class sends.
 */
final class OtlpSink implements SpanSink {
    /** Limit of spans in the queue, about 10 MiB. They suffice for 100 requests to origins per second during 40 s. */
    static final int QUEUE_MAX = 8192;

    private static final int BATCH_MAX = 512;
    private static final long BATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long EXPORT_SECONDS = 10;
    private static final long CLOSE_MILLIS = 3000;
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final String DEFAULT_PATH = "/v1/traces";

    private static final Logger LOG = LoggerFactory.getLogger(OtlpSink.class);

    /**
     * The logger of the SDK, which is off: this class logs failures at a limited rate. The field keeps it reachable,
     * because the JDK forgets the level of an unreachable logger.
     */
    private static final java.util.logging.Logger SDK_LOG = java.util.logging.Logger.getLogger("io.opentelemetry");

    private final BlockingQueue<SpanData> queue = new ArrayBlockingQueue<>(QUEUE_MAX);
    private final SpanExporter exporter;
    private final String endpoint;
    private final Resource resource;
    private final SpanCounts counts;
    private final FaultLog faults;
    private final Thread thread = new Thread(this::run, "millrace-otlp");
    private volatile boolean closed;

    private OtlpSink(SpanExporter exporter, String endpoint, Resource resource, SpanCounts counts, FaultLog faults) {
        this.exporter = exporter;
        this.endpoint = endpoint;
        this.resource = resource;
        this.counts = counts;
        this.faults = faults;
        thread.setDaemon(true);
    }

    /**
     * Opens the export and starts its thread. Sends nothing yet.
     *
     * @throws IOException if a file of the settings cannot be read or used
     */
    static OtlpSink open(String endpoint, TraceConfig config, SpanCounts counts) throws IOException {
        SDK_LOG.setLevel(Level.OFF);
        FaultLog faults = new FaultLog(LOG, QUIET_NANOS, System::nanoTime);
        String url = withPath(endpoint);
        Resource resource = Resource.getDefault()
                .merge(Resource.create(Attributes.builder()
                        .put("service.name", config.serviceName())
                        .put("service.version", Version.current())
                        .put("process.pid", ProcessHandle.current().pid())
                        .build()));
        OtlpSink sink = new OtlpSink(exporter(url, config, faults), url, resource, counts, faults);
        sink.thread.start();
        return sink;
    }

    /** Returns the URL with the path of OTLP, if it has no path. */
    static String withPath(String endpoint) {
        String path = URI.create(endpoint).getRawPath();
        if (path != null && path.length() > 1) {
            return endpoint;
        }
        return (endpoint.endsWith("/") ? endpoint.substring(0, endpoint.length() - 1) : endpoint) + DEFAULT_PATH;
    }

    /**
     * Returns true if the host of the URL is loopback. Compression would take more CPU time than all other work for a
     * span, and saves only bytes that never leave the machine.
     */
    static boolean isOnThisMachine(String url) {
        String host = URI.create(url).getHost();
        InetAddress address = host == null ? null : NetUtil.createInetAddressFromIpAddressString(host);
        return address == null ? "localhost".equalsIgnoreCase(host) : address.isLoopbackAddress();
    }

    private static SpanExporter exporter(String url, TraceConfig config, FaultLog faults) throws IOException {
        OtlpHttpSpanExporterBuilder builder = OtlpHttpSpanExporter.builder()
                .setEndpoint(url)
                .setCompression(isOnThisMachine(url) ? "none" : "gzip")
                .setTimeout(Duration.ofSeconds(EXPORT_SECONDS))
                .setRetryPolicy(RetryPolicy.getDefault());
        Path headers = config.headersFile();
        if (headers != null) {
            builder.setHeaders(HeadersFile.open(headers, faults));
        }
        Path authorities = config.caFile();
        Path certificate = config.certificate();
        Path key = config.key();
        try {
            if (authorities != null) {
                builder.setTrustedCertificates(Files.readAllBytes(authorities));
            }
            if (certificate != null && key != null) {
                builder.setClientTls(Files.readAllBytes(key), Files.readAllBytes(certificate));
            }
            return builder.build();
        } catch (IllegalStateException | IllegalArgumentException e) {
            throw new IOException("the TLS files of traces.tls cannot be used", e);
        }
    }

    @Override
    public void accept(Span span) {
        if (!queue.offer(new OtlpSpan(span, resource))) {
            counts.queueFull(1);
        }
    }

    private void run() {
        List<SpanData> batch = new ArrayList<>(BATCH_MAX);
        try {
            while (!closed || !queue.isEmpty()) {
                fill(batch);
                if (!batch.isEmpty()) {
                    send(batch);
                    batch = new ArrayList<>(BATCH_MAX);
                }
            }
        } catch (InterruptedException e) {
            counts.failed(batch.size() + queue.size());
        }
    }

    /** Takes spans until the batch is full or its time is over. */
    private void fill(List<SpanData> batch) throws InterruptedException {
        long endNanos = System.nanoTime() + BATCH_NANOS;
        while (batch.size() < BATCH_MAX) {
            queue.drainTo(batch, BATCH_MAX - batch.size());
            long left = closed ? 0 : endNanos - System.nanoTime();
            if (left <= 0 || batch.size() >= BATCH_MAX) {
                return;
            }
            SpanData next = queue.poll(Math.min(left, BATCH_NANOS / 5), TimeUnit.NANOSECONDS);
            if (next != null) {
                batch.add(next);
            }
        }
    }

    private void send(List<SpanData> batch) throws InterruptedException {
        CompletableResultCode result = exporter.export(batch);
        result.join(2 * EXPORT_SECONDS, TimeUnit.SECONDS);
        if (result.isSuccess()) {
            counts.exported(batch.size());
            return;
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        counts.failed(batch.size());
        faults.report(
                "the collector of traces took no spans",
                endpoint + ", " + batch.size() + " spans: " + reason(result.getFailureThrowable()),
                null);
    }

    private static String reason(@Nullable Throwable failure) {
        if (failure == null) {
            return "no answer within " + 2 * EXPORT_SECONDS + " s";
        }
        HttpResponse answer = failure instanceof HttpExportException http ? http.getResponse() : null;
        if (answer != null) {
            return "status " + answer.getStatusCode();
        }
        Throwable cause = failure.getCause();
        return (cause == null ? failure : cause).toString();
    }

    @Override
    public void close() {
        closed = true;
        boolean interrupted = false;
        try {
            TimeUnit.MILLISECONDS.timedJoin(thread, CLOSE_MILLIS);
            if (thread.isAlive()) {
                thread.interrupt();
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        exporter.shutdown();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
