package io.millrace.proxy;

/** Runs {@link ExtensionsOnTheWireTest} without the fast lane. */
@InChannels
class ExtensionsInChannelsTest extends ExtensionsOnTheWireTest {}
