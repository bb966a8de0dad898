/**
 * Inspection of a volume that no store has open. {@link io.millrace.store.tool.StoreCheck} checks its integrity,
 * {@link io.millrace.store.tool.StoreDump} prints its content. {@link io.millrace.store.tool.StoreStat} returns
 * statistics. None of them changes a file of the volume.
 */
@NullMarked
package io.millrace.store.tool;

import org.jspecify.annotations.NullMarked;
