package io.millrace.proxy.config.origins;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.OriginTlsConfig;

/**
 * Connections to origins; every figure counts for one origin on one event loop. Immutable.
 *
 * @param connectionsMax connections at the same time
 * @param tunnelsMax tunnels at the same time, which are not counted as connections
 * @param queueMax requests that wait for a connection
 * @param queueWaitNanos how long such a request waits
 * @param keepAliveNanos how long an idle connection is kept; 0 closes it after each request
 * @param keepAliveMax idle connections that are kept
 * @param http2 whether HTTP/2 is spoken where neither a rule nor a group says so
 * @param http2StreamsMax requests of one HTTP/2 connection at the same time
 * @param http2WindowBytes content of one response over HTTP/2 that is not taken yet
 * @param tls TLS settings where neither a rule nor a group has its own
 */
public record OriginConfig(
        int connectionsMax,
        int tunnelsMax,
        int queueMax,
        long queueWaitNanos,
        long keepAliveNanos,
        int keepAliveMax,
        Http2 http2,
        int http2StreamsMax,
        int http2WindowBytes,
        OriginTlsConfig tls) {
    /** When HTTP/2 is spoken with an origin. */
    public enum Http2 {
        /** Never: HTTP/1.1. */
        OFF,
        /** Where an origin of https chooses it in the TLS handshake. */
        ALPN,
        /** Always, without asking; over TLS nothing else is offered. */
        PRIOR_KNOWLEDGE
    }

    public static OriginConfig from(ConfigValues values) {
        return new OriginConfig(
                values.get(ConfigKeys.ORIGIN_CONNECTIONS_MAX),
                values.get(TunnelKeys.ORIGIN_MAX),
                values.get(ConfigKeys.ORIGIN_QUEUE_MAX),
                values.get(ConfigKeys.ORIGIN_QUEUE_WAIT).toNanos(),
                values.get(ConfigKeys.ORIGIN_KEEP_ALIVE).toNanos(),
                values.get(ConfigKeys.ORIGIN_KEEP_ALIVE_MAX),
                values.get(Http2Keys.ORIGIN),
                values.get(Http2Keys.ORIGIN_STREAMS),
                Math.toIntExact(values.get(Http2Keys.ORIGIN_STREAM_WINDOW)),
                OriginTlsConfig.from(values));
    }
}
