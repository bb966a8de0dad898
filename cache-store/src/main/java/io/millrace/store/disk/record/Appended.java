package io.millrace.store.disk.record;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Is told what became of a record. On the volume's thread, once for each record. */
@FunctionalInterface
public interface Appended {
    /** The record is written and in the index; or it is not, for the reason given, and its key holds nothing here. */
    void appended(@Nullable IOException failure);
}
