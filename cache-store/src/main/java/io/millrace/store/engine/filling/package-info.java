/**
 * Bodies being received: their blocks, writers and readers, and the register of fills.
 *
 * <p>A claim is the promise of a writer to fill a range of blocks.
 */
@NullMarked
package io.millrace.store.engine.filling;

import org.jspecify.annotations.NullMarked;
