/**
 * The store's access to the file system. All operations use {@link io.millrace.store.io.FileIo}, so that tests can use
 * an implementation that fails, writes only partly, and loses data that was not forced.
 */
@NullMarked
package io.millrace.store.io;

import org.jspecify.annotations.NullMarked;
