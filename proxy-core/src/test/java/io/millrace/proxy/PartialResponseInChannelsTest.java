package io.millrace.proxy;

/** Runs {@link PartialResponseTest} without the fast lane. */
@InChannels
class PartialResponseInChannelsTest extends PartialResponseTest {}
