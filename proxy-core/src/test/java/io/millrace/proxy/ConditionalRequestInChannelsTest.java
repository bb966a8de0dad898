package io.millrace.proxy;

/** Runs {@link ConditionalRequestTest} without the fast lane. */
@InChannels
class ConditionalRequestInChannelsTest extends ConditionalRequestTest {}
