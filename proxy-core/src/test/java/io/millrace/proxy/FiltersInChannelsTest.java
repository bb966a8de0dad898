package io.millrace.proxy;

/** Runs {@link FiltersOnTheWireTest} without the fast lane. */
@InChannels
class FiltersInChannelsTest extends FiltersOnTheWireTest {}
