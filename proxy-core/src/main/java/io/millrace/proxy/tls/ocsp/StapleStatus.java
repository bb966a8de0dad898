package io.millrace.proxy.tls.ocsp;

import org.jspecify.annotations.Nullable;

/**
 * The state of a certificate's OCSP staple, for operators. Immutable. Times are in epoch seconds, 0 for none.
 *
 * @param untilSeconds expiry of the staple that handshakes send; 0 if there is none
 * @param problem reason why the last request failed; null if the request succeeded
 * @param problemSeconds time of the first failure since the last success
 */
public record StapleStatus(long untilSeconds, @Nullable String problem, long problemSeconds) {}
