package io.millrace.store.engine.object;

import java.io.IOException;

/** Thrown when a stored block was overwritten because its segment was reclaimed. Not a disk error. */
public final class BlockReclaimedException extends IOException {
    private static final long serialVersionUID = 1L;

    BlockReclaimedException(String message) {
        super(message);
    }
}
