package io.millrace.proxy;

/** The same as in {@link SchemeOfConnectionTest}, without the fast lane. */
@InChannels
class SchemeOfConnectionInChannelsTest extends SchemeOfConnectionTest {}
