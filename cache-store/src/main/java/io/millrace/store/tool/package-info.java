/**
 * Looking at a volume that no store has open: {@link io.millrace.store.tool.StoreCheck} says whether it is sound,
 * {@link io.millrace.store.tool.StoreDump} what is in it. Both change nothing.
 */
@NullMarked
package io.millrace.store.tool;

import org.jspecify.annotations.NullMarked;
