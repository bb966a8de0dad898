package io.millrace.proxy;

/** Runs {@link SplitOnTheWireTest} without the fast lane. */
@InChannels
class SplitInChannelsTest extends SplitOnTheWireTest {}
