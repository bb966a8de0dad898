package io.millrace.proxy;

/** The same without the fast lane. */
@InChannels
class LiveConnectionsInChannelsTest extends LiveConnectionsTest {}
