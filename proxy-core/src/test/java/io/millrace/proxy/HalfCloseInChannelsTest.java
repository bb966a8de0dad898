package io.millrace.proxy;

/** The same as in {@link HalfCloseTest}, without the fast lane. */
@InChannels
class HalfCloseInChannelsTest extends HalfCloseTest {}
