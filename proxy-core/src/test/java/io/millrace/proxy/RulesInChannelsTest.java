package io.millrace.proxy;

/** Runs {@link RulesOnTheWireTest} without the fast lane. */
@InChannels
class RulesInChannelsTest extends RulesOnTheWireTest {}
