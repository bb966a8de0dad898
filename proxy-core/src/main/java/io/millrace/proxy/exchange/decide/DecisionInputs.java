package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.overload.Overload;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.store.CacheStore;
import java.util.function.Supplier;

/** Inputs of decisions about requests that all event loops share. Thread-safe. */
public interface DecisionInputs {
    /** The stored responses. */
    CacheStore<StoredHead> store();

    /** Which stored responses are invalidated. */
    Invalidator invalidator();

    /** Which rules have more to do than they can. */
    Overload overload();

    /** The time of day. */
    WallClock clock();

    /** The settings in force, a new snapshot after each reload. */
    Supplier<ExchangeSettings> settings();
}
