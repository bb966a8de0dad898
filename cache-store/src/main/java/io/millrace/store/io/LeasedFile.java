package io.millrace.store.io;

import java.io.Closeable;

/**
 * An open file that only this process may write.
 *
 * @param file the file; it stays readable after the lease was released
 * @param lease closing it releases the lease
 */
public record LeasedFile(StoreFile file, Closeable lease) {}
