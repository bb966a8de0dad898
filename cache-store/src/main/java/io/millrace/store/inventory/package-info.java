/**
 * The inventory of stored objects for listings and searches: one list for each segment of a volume, in a file of its
 * own. Requests never wait for it. The package does not know volumes or records: the engine adds entries, and
 * determines which of them are obsolete.
 */
@NullMarked
package io.millrace.store.inventory;

import org.jspecify.annotations.NullMarked;
