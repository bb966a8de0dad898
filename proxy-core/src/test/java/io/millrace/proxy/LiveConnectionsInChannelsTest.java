package io.millrace.proxy;

/** Runs the tests without the fast lane. */
@InChannels
class LiveConnectionsInChannelsTest extends LiveConnectionsTest {}
