package io.millrace.store.engine.object;

import java.io.IOException;

/** Thrown when a block was overwritten after its segment was reclaimed. This is no disk error. */
public final class BlockReclaimedException extends IOException {
    private static final long serialVersionUID = 1L;

    BlockReclaimedException(String message) {
        super(message);
    }
}
