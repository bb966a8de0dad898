package io.millrace.proxy;

/** Runs {@link RemapVerbsOnTheWireTest} without the fast lane. */
@InChannels
class RemapVerbsInChannelsTest extends RemapVerbsOnTheWireTest {}
