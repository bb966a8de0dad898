/**
 * Inspection of a volume that no store has open. {@link io.millrace.store.tool.StoreCheck} checks its integrity,
 * {@link io.millrace.store.tool.StoreDump} prints its content. Both change no file.
 */
@NullMarked
package io.millrace.store.tool;

import org.jspecify.annotations.NullMarked;
