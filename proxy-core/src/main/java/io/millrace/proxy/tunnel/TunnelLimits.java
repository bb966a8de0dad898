package io.millrace.proxy.tunnel;

/**
 * The time limits of a tunnel. Immutable.
 *
 * @param idleNanos limit of the time without a byte in either direction
 * @param maxNanos limit of the lifetime; 0 for no limit
 */
public record TunnelLimits(long idleNanos, long maxNanos) {}
