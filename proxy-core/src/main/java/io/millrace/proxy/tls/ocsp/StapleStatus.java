package io.millrace.proxy.tls.ocsp;

import org.jspecify.annotations.Nullable;

/**
 * State of a certificate's staple, for operators. Immutable. Times are in seconds since 1970, 0 for none.
 *
 * @param untilSeconds end of the staple that handshakes carry; 0 without one
 * @param problem why the last request for a new one failed; null where it did not
 * @param problemSeconds since when requests fail
 */
public record StapleStatus(long untilSeconds, @Nullable String problem, long problemSeconds) {}
