package io.millrace.proxy.exchange.origin;

import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.exchange.settings.WallClock;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.origin.LoopOrigins;
import io.netty.channel.EventLoop;

/** The components of an event loop that requests to origins need. Confined to this event loop. */
public interface OriginAccess {
    /** The event loop. */
    EventLoop loop();

    /** The connections of the loop to origins. */
    OriginClient origins();

    /** The groups of origins, as the loop uses them. */
    LoopOrigins groups();

    /** The counters of the loop. */
    LoopCounters counters();

    /** The wall clock. */
    WallClock clock();

    /** The settings in force, a new snapshot after each reload. */
    ExchangeSettings settings();
}
