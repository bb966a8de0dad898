package io.millrace.proxy.tunnel;

/**
 * How long a tunnel may live. Immutable.
 *
 * @param idleNanos without a byte in either direction
 * @param maxNanos in all; 0 for without limit
 */
public record TunnelLimits(long idleNanos, long maxNanos) {}
