/**
 * The store's access to the file system. All operations use {@link io.millrace.store.io.FileIo}, so that tests can
 * replace it by one that fails, tears writes and loses unsynced data. No other package of the store accesses files.
 */
@NullMarked
package io.millrace.store.io;

import org.jspecify.annotations.NullMarked;
