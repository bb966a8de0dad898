/**
 * The index of a volume: an open-addressing table in a mapped file that says for a 128-bit hash where its newest record
 * lies. It outlives the process in the page cache, so that a store is back in milliseconds after kill -9; the records
 * themselves stay the truth, and every entry is only a place to look.
 */
@NullMarked
package io.millrace.store.index;

import org.jspecify.annotations.NullMarked;
