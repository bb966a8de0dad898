package io.millrace.store;

import java.io.IOException;

/** Thrown when the bytes passed to {@link HeadCodec#decode} are not a head of that codec. */
public final class CorruptHeadException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The message states the actual value, the expected value and the position. */
    public CorruptHeadException(String message) {
        super(message);
    }
}
