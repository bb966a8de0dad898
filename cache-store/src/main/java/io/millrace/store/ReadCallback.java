package io.millrace.store;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Receives the answer of {@link StoredObject#read}, once, on the executor that was given with the question. */
@FunctionalInterface
public interface ReadCallback {
    /**
     * Exactly one of the two is non-null. The receiver owns {@code content}: between one byte and the length asked
     * for, starting at the position asked for.
     */
    void onRead(@Nullable ByteBuf content, @Nullable IOException failure);
}
