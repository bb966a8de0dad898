/**
 * The engine of the store: the order in which changes of a key become visible and durable.
 *
 * <p>{@link io.millrace.store.engine.StoreEngine} is the entry point. Only this package and its subpackages use all
 * parts of the store. {@code object} holds stored objects, {@code filling} the bodies being received, {@code volume}
 * the group of volumes, and {@code listing} the inventories.
 */
@NullMarked
package io.millrace.store.engine;

import org.jspecify.annotations.NullMarked;
