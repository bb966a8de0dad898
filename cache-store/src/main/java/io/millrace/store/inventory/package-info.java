/**
 * The inventory of stored objects for listings and searches: one Chronicle Map per volume, outside every request path,
 * and the only user of that library. It depends neither on volumes nor on records: the engine adds entries and removes
 * obsolete ones.
 */
@NullMarked
package io.millrace.store.inventory;

import org.jspecify.annotations.NullMarked;
