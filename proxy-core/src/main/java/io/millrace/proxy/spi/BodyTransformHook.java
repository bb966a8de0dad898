package io.millrace.proxy.spi;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The hook for the content of responses, between the origin and the cache. The transformed content is stored, and all
 * clients get it. For rules with this hook the proxy asks the origin for whole content without a coding
 * ({@code Accept-Encoding: identity}). {@code compression} encodes the transformed content.
 *
 * <p>After a failure of {@link #bodyTransform} the content stays as it is, and is not stored. A failure of a
 * {@link Transform} ends the response: clients see it as incomplete, and it is not stored.
 */
public interface BodyTransformHook {
    /**
     * Begins a transformation. Called on an event loop, after {@link OriginResponseHook}. Not called for partial
     * content (206), for responses without content, and for content with a Content-Encoding.
     *
     * @return the transformation of this response; null if the content stays as it is
     */
    @Nullable
    Transform bodyTransform(OriginResponseView response);

    /**
     * The transformation of one response. Confined to one thread at a time. The length and the strong validator of the
     * response change, so the proxy removes Content-Length and makes its ETag weak.
     */
    interface Transform {
        /**
         * Transforms the next bytes.
         *
         * @param in the bytes, read-only; valid during the call only
         */
        void chunk(ByteBuffer in, Output out) throws Exception;

        /** Ends the content, for example with the bytes that the transformation has held back. */
        void end(Output out) throws Exception;

        /** Releases resources. Called once, also after a failure or if the response ends early. */
        default void close() {}
    }

    /** The transformed content. */
    interface Output {
        /**
         * Appends bytes. Copies them.
         *
         * @throws IllegalStateException if one call of the transformation writes more than twice its input plus 1 MiB
         */
        void write(ByteBuffer bytes);
    }
}
