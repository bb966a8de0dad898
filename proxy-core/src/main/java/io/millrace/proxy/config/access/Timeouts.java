package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.TunnelKeys;

/**
 * Timeouts of connections and requests. Immutable.
 *
 * @param clientHeaderNanos from accept, or the first byte of a request, to the end of its head
 * @param clientKeepAliveNanos between two requests of a connection
 * @param clientBodyNanos longest pause while a client sends content or receives its response
 * @param clientBodyWindowNanos time over which the rate of request content is measured
 * @param originConnectNanos name resolution, connection and TLS handshake, for each attempt
 * @param originFirstByteNanos from the end of the request to the end of the head of the response
 * @param originIdleNanos longest pause within a response
 * @param tunnelIdleNanos longest pause in a tunnel, in both directions together
 * @param tunnelMaxNanos lifetime of a tunnel; 0 for no limit
 * @param drainNanos time for the exchanges in progress when a worker stops
 */
public record Timeouts(
        long clientHeaderNanos,
        long clientKeepAliveNanos,
        long clientBodyNanos,
        long clientBodyWindowNanos,
        long originConnectNanos,
        long originFirstByteNanos,
        long originIdleNanos,
        long tunnelIdleNanos,
        long tunnelMaxNanos,
        long drainNanos) {
    public static Timeouts from(ConfigValues values) {
        return new Timeouts(
                values.get(ConfigKeys.TIMEOUTS_CLIENT_HEADER).toNanos(),
                values.get(ConfigKeys.TIMEOUTS_CLIENT_KEEP_ALIVE).toNanos(),
                values.get(ConfigKeys.TIMEOUTS_CLIENT_BODY).toNanos(),
                values.get(ClientLimitKeys.BODY_WINDOW).toNanos(),
                values.get(ConfigKeys.TIMEOUTS_ORIGIN_CONNECT).toNanos(),
                values.get(ConfigKeys.TIMEOUTS_ORIGIN_FIRST_BYTE).toNanos(),
                values.get(ConfigKeys.TIMEOUTS_ORIGIN_IDLE).toNanos(),
                values.get(TunnelKeys.IDLE).toNanos(),
                values.get(TunnelKeys.MAX).toNanos(),
                values.get(ConfigKeys.TIMEOUTS_DRAIN).toNanos());
    }
}
