package io.millrace.proxy;

/** Runs {@link StaleResponseTest} without the fast lane. */
@InChannels
class StaleResponseInChannelsTest extends StaleResponseTest {}
