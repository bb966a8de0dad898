package io.millrace.proxy.config.key;

import io.millrace.proxy.observe.trace.TraceConfig;
import java.nio.file.Path;
import java.time.Duration;

/** The keys of {@code traces}. */
public final class TraceKeys {
    public static final ConfigKey<String> ENDPOINT = ConfigKey.builder("traces.endpoint", ValueType.URL)
            .description("Collector that receives spans by OTLP over HTTP, such as http://127.0.0.1:4318. A URL without"
                    + " a path gets the path /v1/traces. Without this key, no request is traced.");
    public static final ConfigKey<Double> SAMPLE = ConfigKey.builder("traces.sample", ValueType.PERCENT)
            .within(0.0, 1.0)
            .defaultsTo(0.01)
            .description("Share of the requests that are traced. If a trusted proxy (access.trusted_proxies) sends"
                    + " traceparent, its flag decides instead. Failed and slow requests are always traced.");
    public static final ConfigKey<Duration> SLOW_THRESHOLD = ConfigKey.builder(
                    "traces.slow_threshold", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(1))
            .description("Requests whose first response byte takes at least this long are always traced; 0 turns this"
                    + " off.");
    public static final ConfigKey<String> SERVICE_NAME = ConfigKey.builder("traces.service_name", ValueType.STRING)
            .defaultsTo("millrace")
            .description("The attribute service.name of the spans.");
    public static final ConfigKey<Boolean> QUERY = ConfigKey.builder("traces.query", ValueType.BOOLEAN)
            .defaultsTo(false)
            .description("Whether spans contain the query of URLs. Queries may contain personal data.");
    public static final ConfigKey<TraceConfig.Compression> COMPRESSION = ConfigKey.builder(
                    "traces.compression", ValueType.word(TraceConfig.Compression.class, false))
            .defaultsTo(TraceConfig.Compression.NONE)
            .description("Compression of the requests to the collector. gzip saves most of the bytes, for about"
                    + " half as much CPU time as all other work for a span.");
    public static final ConfigKey<Path> HEADERS_FILE = ConfigKey.builder("traces.headers_file", ValueType.PATH)
            .description("File with fields of the requests to the collector, one 'Name: value' in a line, such as"
                    + " Authorization. Read again when it changes.");
    public static final ConfigKey<Path> CA_FILE = ConfigKey.builder("traces.tls.ca_file", ValueType.PATH)
            .description("PEM file of the certificates that may have signed the collector's certificate; by default,"
                    + " those of the JVM.");
    public static final ConfigKey<Path> CERTIFICATE = ConfigKey.builder("traces.tls.certificate", ValueType.PATH)
            .description("PEM file of the proxy's certificate for collectors that require one.");
    public static final ConfigKey<Path> KEY = ConfigKey.builder("traces.tls.key", ValueType.PATH)
            .description("PEM file of the private key of the certificate, in PKCS #8.");

    private TraceKeys() {}

    /** Returns the settings of traces in a configuration. */
    public static TraceConfig configOf(ConfigValues values) {
        return new TraceConfig(
                values.find(ENDPOINT),
                values.get(SAMPLE),
                values.get(SLOW_THRESHOLD).toNanos(),
                values.get(SERVICE_NAME),
                values.get(QUERY),
                values.get(COMPRESSION),
                values.find(HEADERS_FILE),
                values.find(CA_FILE),
                values.find(CERTIFICATE),
                values.find(KEY));
    }
}
