package io.millrace.proxy;

/** The same as in {@link PartialResponseTest}, without the fast lane. */
@InChannels
class PartialResponseInChannelsTest extends PartialResponseTest {}
