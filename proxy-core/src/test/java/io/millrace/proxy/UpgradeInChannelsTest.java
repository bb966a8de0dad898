package io.millrace.proxy;

/** Runs {@link UpgradeTest} without the fast lane. */
@InChannels
class UpgradeInChannelsTest extends UpgradeTest {}
