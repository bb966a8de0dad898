package io.millrace.proxy;

/** Runs {@link CompressionOnTheWireTest} without the fast lane. */
@InChannels
class CompressionInChannelsTest extends CompressionOnTheWireTest {}
