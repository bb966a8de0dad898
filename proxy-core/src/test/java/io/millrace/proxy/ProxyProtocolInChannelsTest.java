package io.millrace.proxy;

/** Runs {@link ProxyProtocolTest} without the fast lane. */
@InChannels
class ProxyProtocolInChannelsTest extends ProxyProtocolTest {}
