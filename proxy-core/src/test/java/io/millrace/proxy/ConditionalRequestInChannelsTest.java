package io.millrace.proxy;

/** The same as in {@link ConditionalRequestTest}, without the fast lane. */
@InChannels
class ConditionalRequestInChannelsTest extends ConditionalRequestTest {}
