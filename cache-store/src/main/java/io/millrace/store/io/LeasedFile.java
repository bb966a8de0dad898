package io.millrace.store.io;

import java.io.Closeable;

/**
 * An open file that this process alone may write.
 *
 * @param file the file; it stays readable after the lease was given back
 * @param lease gives it back
 */
public record LeasedFile(StoreFile file, Closeable lease) {}
