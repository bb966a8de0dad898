package io.millrace.proxy.config;

/**
 * Connections to origins; every figure counts for one origin on one event loop. Immutable.
 *
 * @param connectionsMax connections at the same time
 * @param tunnelsMax tunnels at the same time, which are not counted as connections
 * @param queueMax requests that wait for a connection
 * @param queueWaitNanos how long such a request waits
 * @param keepAliveNanos how long an idle connection is kept; 0 closes it after each request
 * @param keepAliveMax idle connections that are kept
 * @param tls TLS settings where neither a rule nor a group has its own
 */
public record OriginConfig(
        int connectionsMax,
        int tunnelsMax,
        int queueMax,
        long queueWaitNanos,
        long keepAliveNanos,
        int keepAliveMax,
        OriginTlsConfig tls) {
    static OriginConfig from(ConfigValues values) {
        return new OriginConfig(
                values.get(ConfigKeys.ORIGIN_CONNECTIONS_MAX),
                values.get(TunnelKeys.ORIGIN_MAX),
                values.get(ConfigKeys.ORIGIN_QUEUE_MAX),
                values.get(ConfigKeys.ORIGIN_QUEUE_WAIT).toNanos(),
                values.get(ConfigKeys.ORIGIN_KEEP_ALIVE).toNanos(),
                values.get(ConfigKeys.ORIGIN_KEEP_ALIVE_MAX),
                OriginTlsConfig.from(values));
    }
}
