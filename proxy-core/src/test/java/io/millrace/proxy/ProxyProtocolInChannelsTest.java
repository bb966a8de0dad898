package io.millrace.proxy;

/** The same as in {@link ProxyProtocolTest}, without the fast lane. */
@InChannels
class ProxyProtocolInChannelsTest extends ProxyProtocolTest {}
