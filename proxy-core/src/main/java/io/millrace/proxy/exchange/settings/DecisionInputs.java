package io.millrace.proxy.exchange.settings;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.clients.ClientAdmission;
import io.millrace.proxy.dictionary.Dictionaries;
import io.millrace.proxy.overload.Overload;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.Purger;
import io.millrace.store.CacheStore;
import java.util.function.Supplier;

/** The objects that decisions about requests read. All event loops share these objects. Thread-safe. */
public interface DecisionInputs {
    /** The stored responses. */
    CacheStore<StoredHead> store();

    /** The invalidations in force. */
    Invalidator invalidator();

    /** The purges of single URLs. */
    Purger purger();

    /** The dictionaries for compression. */
    Dictionaries dictionaries();

    /** The gauges that measure whether a remap rule is in overload. */
    Overload overload();

    /** The counts of clients against their limits. */
    ClientAdmission clients();

    /** The wall clock. */
    WallClock clock();

    /** The settings in force, a new snapshot after each reload. */
    Supplier<ExchangeSettings> settings();
}
