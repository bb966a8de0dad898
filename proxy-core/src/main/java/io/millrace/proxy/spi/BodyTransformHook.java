package io.millrace.proxy.spi;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The hook for the content of responses, between the origin and the cache. The transformed content is stored, and all
 * clients get it. For rules with this hook the proxy asks the origin for whole content without a coding
 * ({@code Accept-Encoding: identity}). The setting {@code compression} applies to the transformed content.
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

    /**
     * A transformation whose calls may give their result later, for example from a thread of the extension. One call is
     * open at a time. The proxy reads no more content of the response meanwhile. {@code extensions[].deadline} limits
     * the time of each call. {@link #close} may be called while a call is open.
     */
    interface AsyncTransform extends Transform {
        /**
         * Transforms the next bytes. Called on an event loop.
         *
         * @param in the bytes, read-only; valid during the call only
         * @param result a call of {@code proceed} ends this call; the function passed to {@code proceed} writes the
         *     output
         */
        void chunk(ByteBuffer in, Continuation<Output> result) throws Exception;

        /** Ends the content. Called on an event loop. */
        void end(Continuation<Output> result) throws Exception;

        /** Never called: the proxy calls {@link #chunk(ByteBuffer, Continuation)}. */
        @Override
        default void chunk(ByteBuffer in, Output out) {
            throw new UnsupportedOperationException("the result comes later");
        }

        /** Never called: the proxy calls {@link #end(Continuation)}. */
        @Override
        default void end(Output out) {
            throw new UnsupportedOperationException("the result comes later");
        }
    }

    /** The transformed content. */
    interface Output {
        /**
         * Appends bytes. Copies them.
         *
         * @throws IllegalStateException if one call of the transformation writes more than 1 MiB plus twice its input;
         *     the input of earlier calls without output counts too
         */
        void write(ByteBuffer bytes);

        /**
         * Gives the transformation up, for example because the content is longer than the transformation can hold. This
         * is a failure with the reason {@code limit}. With {@code on_error: closed} the response ends. With
         * {@code open} the given bytes and all further content are passed on unchanged, and the response is not stored.
         * The transformation is not called again, except for {@link Transform#close}.
         *
         * @param held the input that the transformation has not written yet; copied
         */
        default void giveUp(ByteBuffer held, String reason) {
            throw new UnsupportedOperationException(reason);
        }
    }
}
