package io.millrace.proxy.observe.trace;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The settings of traces. Immutable.
 *
 * @param endpoint URL of the collector for OTLP over HTTP; null if none is configured
 * @param sampleRatio fraction of the requests to sample among those without the traceparent of a trusted client, 0 to 1
 * @param slowNanos requests whose first response byte takes at least this long are always exported; 0 for none
 * @param serviceName the attribute {@code service.name} of the resource
 * @param showsQuery whether spans contain the query of URLs
 * @param compression of the requests to the collector
 * @param headersFile file with further fields of requests to the collector; null for none
 * @param caFile PEM file of the authorities for the collector's certificate; null for the authorities of the JVM
 * @param certificate PEM file of the proxy's certificate for the collector; null for none
 * @param key PEM file of the certificate's private key; null for none
 */
public record TraceConfig(
        @Nullable String endpoint,
        double sampleRatio,
        long slowNanos,
        String serviceName,
        boolean showsQuery,
        Compression compression,
        @Nullable Path headersFile,
        @Nullable Path caFile,
        @Nullable Path certificate,
        @Nullable Path key) {

    /** The compression of requests to a collector. */
    public enum Compression {
        /** No compression. */
        NONE,
        /** gzip. */
        GZIP
    }
}
