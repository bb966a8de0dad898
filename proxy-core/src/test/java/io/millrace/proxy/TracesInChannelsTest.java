package io.millrace.proxy;

/** Runs {@link TracesTest} without the fast lane. */
@InChannels
class TracesInChannelsTest extends TracesTest {}
