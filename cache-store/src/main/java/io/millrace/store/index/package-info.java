/**
 * The index of a volume: an open-addressing table in a mapped file, from a 128-bit hash to the location of its newest
 * record. The table survives the process in the page cache, so that a store restarts within milliseconds after kill -9.
 * Only the records are authoritative: a reader verifies the record that an entry refers to.
 */
@NullMarked
package io.millrace.store.index;

import org.jspecify.annotations.NullMarked;
