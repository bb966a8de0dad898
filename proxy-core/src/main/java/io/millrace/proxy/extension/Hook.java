package io.millrace.proxy.extension;

import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.spi.Authorizer;
import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.CacheKeyHook;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.LookupHook;
import io.millrace.proxy.spi.OriginRequestHook;
import io.millrace.proxy.spi.OriginResolver;
import io.millrace.proxy.spi.OriginResponseHook;
import io.millrace.proxy.spi.PurgeObserver;
import io.millrace.proxy.spi.RequestHook;
import io.millrace.proxy.spi.log.AccessLogSink;
import java.util.Arrays;
import java.util.List;

/** The hooks, in the order in which a request calls them. */
public enum Hook {
    /** {@link Authorizer#authorize}. */
    AUTHORIZE("authorize", Authorizer.class, OnError.CLOSED),
    /** {@link RequestHook#requestReceived}. */
    REQUEST_RECEIVED("request_received", RequestHook.class, OnError.CLOSED),
    /** {@link OriginResolver#resolve}. */
    ORIGIN_RESOLVE("origin_resolve", OriginResolver.class, OnError.OPEN),
    /** {@link CacheKeyHook#cacheKey}. */
    CACHE_KEY("cache_key", CacheKeyHook.class, OnError.OPEN),
    /** {@link LookupHook#lookupDone}. */
    LOOKUP_DONE("lookup_done", LookupHook.class, OnError.OPEN),
    /** {@link OriginRequestHook#originRequest}. */
    ORIGIN_REQUEST("origin_request", OriginRequestHook.class, OnError.OPEN),
    /** {@link OriginResponseHook#originResponse}. */
    ORIGIN_RESPONSE("origin_response", OriginResponseHook.class, OnError.OPEN),
    /** {@link BodyTransformHook#bodyTransform} and the transformations that it begins. */
    BODY_TRANSFORM("body_transform", BodyTransformHook.class, OnError.OPEN),
    /** {@link DeliverHook#deliver}. */
    DELIVER("deliver", DeliverHook.class, OnError.OPEN),
    /** {@link PurgeObserver#purged}. */
    PURGE("purge", PurgeObserver.class, OnError.OPEN),
    /** {@link AccessLogSink#records}. */
    ACCESS_LOG("access_log", AccessLogSink.class, OnError.OPEN);

    private final String label;
    private final Class<?> type;
    private final OnError onError;

    Hook(String label, Class<?> type, OnError onError) {
        this.label = label;
        this.type = type;
        this.onError = onError;
    }

    /** The name in metrics, logs and the admin API. */
    public String label() {
        return label;
    }

    /** The effect of a failure if the configuration sets none. */
    public OnError onError() {
        return onError;
    }

    /** Returns true if requests or their fetches call the hook. */
    boolean isOfRequests() {
        return this != PURGE && this != ACCESS_LOG;
    }

    /** The bit of the hook in masks. */
    @SuppressWarnings("EnumOrdinal") // used only within the process
    int bit() {
        return 1 << ordinal();
    }

    /** Returns true if an extension implements the hook. */
    public boolean isOf(Extension extension) {
        return type.isInstance(extension);
    }

    /** Returns the hooks that an extension implements. */
    public static List<Hook> of(Extension extension) {
        return Arrays.stream(values()).filter(hook -> hook.isOf(extension)).toList();
    }
}
