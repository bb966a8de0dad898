package io.millrace.proxy.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A response of the origin, before it is stored.
 *
 * <p>Valid during the call of the hook only, and on its thread.
 */
public interface OriginResponseView {
    /**
     * The absolute URL in the cache key. It may differ from the client's URL, for example by {@code cache.key.host}.
     */
    String url();

    /** The remap rule: its URL pattern as in the configuration. */
    String rule();

    /** The status code. */
    int status();

    /**
     * The fields. Changes reach all clients and are stored. A change of ETag or Last-Modified fails with an
     * IllegalArgumentException, because they identify the representation.
     */
    MutableFields fields();

    /**
     * Sets the time for which the stored response is fresh, in place of the lifetime in Cache-Control and Expires.
     * A response that must not be stored, such as one with {@code no-store}, is still not stored.
     *
     * @param value not negative, or null for the lifetime of the response itself
     */
    void ttl(@Nullable Duration value);

    /**
     * Adds a tag, by which {@code millctl purge --tag} finds the stored response.
     *
     * @throws IllegalArgumentException if the text has white space or control characters, or more than 128 bytes
     */
    void tag(String tag);

    /** Prevents that the response is stored. */
    void doNotStore();

    /**
     * Returns a value that a hook has attached to this response; null for none. {@link BodyTransformHook} sees the values
     * of {@link OriginResponseHook}. A value lives until the transformations have begun.
     */
    default <T> @Nullable T get(Attribute<T> attribute) {
        return null;
    }

    /**
     * Attaches a value to this response.
     *
     * @param value null to remove the value
     */
    default <T> void set(Attribute<T> attribute, @Nullable T value) {
        throw new UnsupportedOperationException("this response has no attributes");
    }
}
