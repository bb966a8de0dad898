package io.millrace.store;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Receives the result of {@link StoredObject#read}, once, on the executor passed to that call. */
@FunctionalInterface
public interface ReadCallback {
    /**
     * Called with either {@code content} or {@code failure}; the other argument is null. The receiver owns
     * {@code content}, which starts at the requested position. It has at least one byte and at most the requested
     * length.
     */
    void onRead(@Nullable ByteBuf content, @Nullable IOException failure);
}
