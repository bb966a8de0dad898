/**
 * The index of a volume: an open-addressing table in a mapped file, from a 128-bit hash to the location of its newest
 * record. The table survives the process in the page cache, so that a store restarts within milliseconds after kill -9.
 * The records are authoritative; every entry is only a hint where to read.
 */
@NullMarked
package io.millrace.store.index;

import org.jspecify.annotations.NullMarked;
