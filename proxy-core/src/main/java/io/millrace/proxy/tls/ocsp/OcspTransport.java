package io.millrace.proxy.tls.ocsp;

import java.util.concurrent.CompletableFuture;

/** Sends OCSP requests to responders. Thread-safe. Does not block. */
@FunctionalInterface
interface OcspTransport {
    /**
     * Sends an OCSPRequest.
     *
     * @return the body of the response; fails with an {@link OcspFault} as cause, or with another exception
     */
    CompletableFuture<byte[]> post(String responder, byte[] request);
}
