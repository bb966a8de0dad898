package io.millrace.proxy;

/** The same as in {@link RawRequestTest}, without the fast lane. */
@InChannels
class RawRequestInChannelsTest extends RawRequestTest {}
