package io.millrace.store;

/**
 * Receives the objects of a listing, one at a time, on the inventory's own thread. It must be fast and must not block.
 */
public interface ListVisitor {
    /**
     * Returns true if the visitor wants an object with this key. The bytes are borrowed. Called before any other field
     * of the object is read.
     */
    boolean wants(byte[] key);

    /** Receives one wanted object. Returns true to continue, false to stop. */
    boolean object(ListedObject object);

    /** Returns true to continue, false to stop. Called every few thousand entries. */
    default boolean goesOn() {
        return true;
    }
}
