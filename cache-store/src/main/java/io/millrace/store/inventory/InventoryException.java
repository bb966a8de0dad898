package io.millrace.store.inventory;

import java.io.IOException;

/** There can be no inventory, or none any more; the message says why. */
public final class InventoryException extends IOException {
    private static final long serialVersionUID = 1;

    InventoryException(String message) {
        super(message);
    }

    InventoryException(String message, Throwable cause) {
        super(message, cause);
    }
}
