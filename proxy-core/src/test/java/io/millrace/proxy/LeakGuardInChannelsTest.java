package io.millrace.proxy;

/** Runs {@link LeakGuardOnTheWireTest} without the fast lane. */
@InChannels
class LeakGuardInChannelsTest extends LeakGuardOnTheWireTest {}
