/**
 * Bodies that arrive: the blocks present, their writers and readers, and the table of fills by key.
 */
@NullMarked
package io.millrace.store.engine.filling;

import org.jspecify.annotations.NullMarked;
