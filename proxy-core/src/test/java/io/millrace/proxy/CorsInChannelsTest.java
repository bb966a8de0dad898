package io.millrace.proxy;

/** Runs {@link CorsOnTheWireTest} without the fast lane. */
@InChannels
class CorsInChannelsTest extends CorsOnTheWireTest {}
