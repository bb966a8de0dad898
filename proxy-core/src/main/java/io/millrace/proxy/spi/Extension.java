package io.millrace.proxy.spi;

/**
 * An extension of the proxy. The class also implements an interface for each hook that it uses: {@link Authorizer},
 * {@link RequestHook}, {@link CacheKeyHook}, {@link LookupHook}, {@link OriginResolver}, {@link OriginRequestHook},
 * {@link OriginResponseHook}, {@link BodyTransformHook}, {@link DeliverHook}, {@link PurgeObserver},
 * {@link io.millrace.proxy.spi.log.AccessLogSink}.
 *
 * <p>An object serves one entry of the configuration. All event loops may call its hooks at the same time, so it must
 * be thread-safe. A hook on an event loop must not block: while it runs, all connections of the loop wait. A hook that
 * throws an exception has failed. The entry's {@code on_error} then determines what happens to the request.
 *
 * <p>Several extensions are called in the order of the configuration.
 */
public interface Extension extends AutoCloseable {
    /** The version of this interface. Increased by each change that is incompatible with existing extensions. */
    int API_VERSION = 1;

    /**
     * The version of this interface for which the extension was compiled: {@code return Extension.API_VERSION}. The
     * compiler copies the constant into the extension.
     */
    int apiVersion();

    /**
     * The name of this extension if an application passes it to the builder of the proxy; an entry of the configuration
     * has its own name. 1 to 64 letters, digits, '-' and '_'.
     */
    String name();

    /** The version of the extension, for display. */
    default String version() {
        return "";
    }

    /**
     * A remark for operators in one line, for display; empty for none. For example, it names features that the
     * extension does not support. Called on any thread between {@link #open} and {@link #close}; must not block.
     */
    default String note() {
        return "";
    }

    /**
     * Starts the extension: reads and checks the configuration. Called once, before the first request, on a thread that
     * may block.
     *
     * @param context valid until {@link #close}
     * @throws ExtensionConfigException if the configuration of the entry is not valid
     * @throws Exception for any other reason why the extension cannot work; the proxy then does not start
     */
    void open(ExtensionContext context) throws Exception;

    /** Ends the extension. Called once after the last call of a hook, on a thread that may block. */
    @Override
    default void close() {}
}
