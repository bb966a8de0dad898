package io.millrace.store;

/**
 * A visitor of the objects of {@link CacheStore#list}. Called for one object at a time, on the thread of the inventory
 * (the table of stored objects). Its methods must be fast and must not block.
 */
public interface ListVisitor {
    /**
     * Returns true if the visitor wants the object with this key; false skips the object. The bytes are borrowed.
     * Called before any other field of the object is decoded, so that skipped objects are cheap.
     */
    boolean mayMatch(byte[] key);

    /** Receives one wanted object. Returns true to continue, false to stop. */
    boolean visit(ListedObject object);

    /**
     * Returns true to continue the listing, false to stop it. Called every few hundred entries, also if no object is
     * wanted.
     */
    default boolean continues() {
        return true;
    }
}
