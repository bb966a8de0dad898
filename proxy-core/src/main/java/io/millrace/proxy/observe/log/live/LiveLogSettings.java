package io.millrace.proxy.observe.log.live;

/**
 * The settings of the live log. Immutable.
 *
 * @param slowNanos requests whose first response byte takes at least this long count as slow; 0 for none
 * @param keptMax limit of kept requests of each {@link KeptKind}; 0 keeps none
 */
public record LiveLogSettings(long slowNanos, int keptMax) {}
