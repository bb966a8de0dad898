/**
 * The seam to the file system: everything that the store asks of it goes through {@link io.millrace.store.io.FileIo},
 * so that tests can put one in its place that fails, tears writes and forgets what was not synced. No other package of
 * the store touches files.
 */
@NullMarked
package io.millrace.store.io;

import org.jspecify.annotations.NullMarked;
