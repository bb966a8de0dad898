package io.millrace.store.disk.record;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Receives the outcome of appending a record. Called on the volume's thread, once per record. */
@FunctionalInterface
public interface Appended {
    /** The record is written and in the index; or it is not, for the reason given, and its key holds nothing here. */
    void appended(@Nullable IOException failure);
}
