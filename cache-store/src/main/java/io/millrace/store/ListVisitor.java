package io.millrace.store;

/** Sees the objects of a listing, one after the other, on the inventory's own thread: it must be quick and not block. */
public interface ListVisitor {
    /** Whether an object of this key is asked for; the bytes are borrowed. Asked before anything else is looked at. */
    boolean wants(byte[] key);

    /** One object that was asked for. Returns whether there shall be more. */
    boolean object(ListedObject object);

    /** Whether to go on; asked every few thousand entries. */
    default boolean goesOn() {
        return true;
    }
}
