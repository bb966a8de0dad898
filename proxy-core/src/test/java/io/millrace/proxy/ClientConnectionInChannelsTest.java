package io.millrace.proxy;

/** Runs {@link ClientConnectionTest} without the fast lane. */
@InChannels
class ClientConnectionInChannelsTest extends ClientConnectionTest {}
