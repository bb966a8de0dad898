package io.millrace.proxy;

/** Runs {@link HalfCloseTest} without the fast lane. */
@InChannels
class HalfCloseInChannelsTest extends HalfCloseTest {}
