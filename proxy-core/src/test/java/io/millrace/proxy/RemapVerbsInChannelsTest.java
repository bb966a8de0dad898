package io.millrace.proxy;

/** The same as in {@link RemapVerbsOnTheWireTest}, without the fast lane. */
@InChannels
class RemapVerbsInChannelsTest extends RemapVerbsOnTheWireTest {}
