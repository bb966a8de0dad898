package io.millrace.proxy.config.origins;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.SourceAddress;

/**
 * Settings of connections to origins. Unless stated otherwise, a limit applies to one origin on one event loop.
 * Immutable.
 *
 * @param connectionsMax connections at the same time
 * @param connectionsTotalMax connections of all event loops at the same time; 0 for no limit
 * @param tunnelsMax tunnels at the same time, not counted as connections
 * @param queueMax requests that wait for a connection
 * @param queueWaitNanos how long a request waits for a connection
 * @param keepAliveNanos how long an idle connection is kept; 0 closes a connection after each request
 * @param keepAliveMax idle connections that are kept
 * @param http2 use of HTTP/2 if neither the rule nor the group sets it
 * @param http2StreamsMax requests on one HTTP/2 connection at the same time
 * @param http2WindowBytes received content of one HTTP/2 response that is not consumed yet
 * @param source local addresses of connections if neither the rule nor the group sets them
 * @param markdown when an origin without a group is marked down
 * @param tls TLS settings if neither the rule nor the group has its own
 */
public record OriginConfig(
        int connectionsMax,
        int connectionsTotalMax,
        int tunnelsMax,
        int queueMax,
        long queueWaitNanos,
        long keepAliveNanos,
        int keepAliveMax,
        Http2 http2,
        int http2StreamsMax,
        int http2WindowBytes,
        SourceAddress source,
        OriginGroupConfig.Markdown markdown,
        OriginTlsConfig tls) {
    /** When HTTP/2 is used with an origin. */
    public enum Http2 {
        /** Never; HTTP/1.1 is used. */
        OFF,
        /** If the origin uses https and selects HTTP/2 by ALPN. */
        ALPN,
        /** Always, with prior knowledge; over TLS, ALPN offers only HTTP/2. */
        PRIOR_KNOWLEDGE
    }

    public static OriginConfig from(ConfigValues values) {
        return new OriginConfig(
                values.get(ConfigKeys.ORIGIN_CONNECTIONS_MAX),
                values.get(OriginLimitKeys.TOTAL),
                values.get(TunnelKeys.ORIGIN_MAX),
                values.get(ConfigKeys.ORIGIN_QUEUE_MAX),
                values.get(ConfigKeys.ORIGIN_QUEUE_WAIT).toNanos(),
                values.get(ConfigKeys.ORIGIN_KEEP_ALIVE).toNanos(),
                values.get(ConfigKeys.ORIGIN_KEEP_ALIVE_MAX),
                values.get(Http2Keys.ORIGIN),
                values.get(Http2Keys.ORIGIN_STREAMS),
                Math.toIntExact(values.get(Http2Keys.ORIGIN_STREAM_WINDOW)),
                values.get(OriginLimitKeys.SOURCE),
                HostDatabaseKeys.rules(values),
                OriginTlsConfig.from(values));
    }
}
