package io.millrace.proxy;

/** The same as in {@link UpgradeTest}, without the fast lane. */
@InChannels
class UpgradeInChannelsTest extends UpgradeTest {}
