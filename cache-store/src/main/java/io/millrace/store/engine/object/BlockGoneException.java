package io.millrace.store.engine.object;

import java.io.IOException;

/** A block that was stored is there no more: the ring has turned over it. No fault of the disk. */
public final class BlockGoneException extends IOException {
    private static final long serialVersionUID = 1L;

    BlockGoneException(String message) {
        super(message);
    }
}
