package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.remap.Mapped;
import io.millrace.store.StoreKey;
import org.jspecify.annotations.Nullable;

/** The request whose response is about to be stored, with its rule and key. Confined to one event loop. */
public interface StoringTarget {
    /** The request, whose fields select the variant. */
    RequestHead request();

    /** The rule of the request. */
    Mapped mapped();

    /** The settings of the rule. */
    CacheSettings cacheSettings();

    /** The URL's primary key; null without a lookup. */
    @Nullable
    StoreKey primaryKey();

    /** The bytes of the URL's primary key, also without a lookup. Borrowed. */
    byte[] primaryBytes();

    /** The Vary marker found under the primary key: the record of the URL's variants. Null for none. */
    @Nullable
    StoredHead marker();
}
