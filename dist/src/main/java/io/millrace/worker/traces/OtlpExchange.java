package io.millrace.worker.traces;

import io.netty.handler.codec.http.FullHttpRequest;
import java.util.concurrent.CompletableFuture;

/**
 * A request to the collector and its answer. Immutable, except for the future.
 *
 * @param request the request, which the connection owns once it is passed on for writing
 * @param result completed by the event loop of the connection
 */
record OtlpExchange(FullHttpRequest request, CompletableFuture<Result> result) {

    /**
     * The end of an exchange. Immutable.
     *
     * @param keepsConnection false if the connection must not be used again
     */
    record Result(OtlpAnswer answer, boolean keepsConnection) {}
}
