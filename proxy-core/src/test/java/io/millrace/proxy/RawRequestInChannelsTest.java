package io.millrace.proxy;

/** Runs {@link RawRequestTest} without the fast lane. */
@InChannels
class RawRequestInChannelsTest extends RawRequestTest {}
