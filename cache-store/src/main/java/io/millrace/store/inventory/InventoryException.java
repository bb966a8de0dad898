package io.millrace.store.inventory;

import java.io.IOException;

/** Thrown if an inventory (table of stored objects) cannot be opened or created; the message states the reason. */
public final class InventoryException extends IOException {
    private static final long serialVersionUID = 1;

    InventoryException(String message) {
        super(message);
    }

    InventoryException(String message, Throwable cause) {
        super(message, cause);
    }
}
