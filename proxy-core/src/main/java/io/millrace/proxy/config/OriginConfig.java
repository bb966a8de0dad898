package io.millrace.proxy.config;

/**
 * Connections to origins. Immutable.
 *
 * @param connectionsMax connections to one origin at the same time; 0 for no limit
 * @param keepAliveNanos how long an idle connection is kept; 0 closes it after each request
 * @param keepAliveMax idle connections kept for one origin by each event loop
 */
public record OriginConfig(int connectionsMax, long keepAliveNanos, int keepAliveMax) {
    static OriginConfig from(ConfigValues values) {
        return new OriginConfig(
                values.get(ConfigKeys.ORIGIN_CONNECTIONS_MAX),
                values.get(ConfigKeys.ORIGIN_KEEP_ALIVE).toNanos(),
                values.get(ConfigKeys.ORIGIN_KEEP_ALIVE_MAX));
    }
}
