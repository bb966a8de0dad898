package io.millrace.proxy.spi;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * The hook that chooses the origin of a request in code. The cache key does not contain the choice: all origins of a
 * URL are expected to have the same resource.
 *
 * <p>After a failure, the request by default goes to the origin of the remap rule ({@code on_error: open}).
 */
public interface OriginResolver {
    /**
     * Chooses the origin. Called on the event loop of the request, after the {@link RequestHook} of all extensions,
     * also for requests that the cache answers. Not called for rules with a group of origins.
     *
     * @return scheme {@code http} or {@code https}, host and port, such as {@code http://10.0.0.5:8080}; null for the
     *     origin of the remap rule. The path for the origin does not change
     */
    @Nullable
    URI resolve(RequestView request);
}
