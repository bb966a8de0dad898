package io.millrace.proxy;

/** The same as in {@link FiltersOnTheWireTest}, without the fast lane. */
@InChannels
class FiltersInChannelsTest extends FiltersOnTheWireTest {}
