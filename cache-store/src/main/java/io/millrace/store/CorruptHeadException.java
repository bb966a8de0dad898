package io.millrace.store;

import java.io.IOException;

/** The bytes given to {@link HeadCodec#decode} are no head of that codec. */
public final class CorruptHeadException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The message says what was found, what was expected and where. */
    public CorruptHeadException(String message) {
        super(message);
    }
}
