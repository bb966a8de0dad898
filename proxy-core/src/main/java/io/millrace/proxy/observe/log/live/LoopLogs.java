package io.millrace.proxy.observe.log.live;

import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.trace.LoopTraces;
import org.jspecify.annotations.Nullable;

/**
 * The logs of one event loop.
 *
 * @param access the ring of the access logs; null without an access log
 * @param live the live log; null without an admin API
 * @param traces the traces; null if the proxy cannot export spans
 */
public record LoopLogs(
        @Nullable AccessLogRing access,
        @Nullable LoopLiveLog live,
        @Nullable LoopTraces traces) {}
