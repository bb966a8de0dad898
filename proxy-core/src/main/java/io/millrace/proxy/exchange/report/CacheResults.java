package io.millrace.proxy.exchange.report;

import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.field.ForwardReason;

/** Maps the reason for forwarding a request to its cache result. Thread-safe: no state. */
public final class CacheResults {
    private CacheResults() {}

    /** Returns the cache result of a request that is forwarded for this reason. */
    public static CacheResult of(ForwardReason reason) {
        return switch (reason) {
            case BYPASS -> CacheResult.BYPASS;
            case METHOD -> CacheResult.METHOD;
            case URI_MISS, MISS -> CacheResult.URI_MISS;
            case VARY_MISS -> CacheResult.VARY_MISS;
            case REQUEST -> CacheResult.REQUEST;
            case STALE -> CacheResult.STALE_MISS;
            case PARTIAL -> CacheResult.PARTIAL;
        };
    }
}
