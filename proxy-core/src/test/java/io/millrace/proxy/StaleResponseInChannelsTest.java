package io.millrace.proxy;

/** The same as in {@link StaleResponseTest}, without the fast lane. */
@InChannels
class StaleResponseInChannelsTest extends StaleResponseTest {}
