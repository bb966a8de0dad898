package io.millrace.proxy.tls.ocsp;

import org.jspecify.annotations.Nullable;

/**
 * The state of a certificate's staple, for operators. Immutable. Times are in epoch seconds, 0 for none.
 *
 * @param untilSeconds end of the staple sent in handshakes; 0 without one
 * @param problem reason why the last request failed; null if it succeeded
 * @param problemSeconds time of the first failure since the last success
 */
public record StapleStatus(long untilSeconds, @Nullable String problem, long problemSeconds) {}
