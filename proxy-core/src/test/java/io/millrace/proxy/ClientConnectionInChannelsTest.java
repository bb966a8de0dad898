package io.millrace.proxy;

/** The same as in {@link ClientConnectionTest}, without the fast lane. */
@InChannels
class ClientConnectionInChannelsTest extends ClientConnectionTest {}
