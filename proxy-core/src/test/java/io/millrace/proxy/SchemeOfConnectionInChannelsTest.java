package io.millrace.proxy;

/** Runs {@link SchemeOfConnectionTest} without the fast lane. */
@InChannels
class SchemeOfConnectionInChannelsTest extends SchemeOfConnectionTest {}
