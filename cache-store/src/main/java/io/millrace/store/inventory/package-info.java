/**
 * The inventory of stored objects for listings and searches: one Chronicle Map per volume. Requests never wait for it.
 * No other package uses Chronicle. The package does not know volumes or records: the engine adds entries and removes
 * obsolete ones.
 */
@NullMarked
package io.millrace.store.inventory;

import org.jspecify.annotations.NullMarked;
