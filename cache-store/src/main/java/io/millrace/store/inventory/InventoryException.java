package io.millrace.store.inventory;

import java.io.IOException;

/** Thrown if a part of the inventory (table of stored objects) is damaged; the message names the file and the place. */
public final class InventoryException extends IOException {
    private static final long serialVersionUID = 1;

    InventoryException(String message) {
        super(message);
    }
}
