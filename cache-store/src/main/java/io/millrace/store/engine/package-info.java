/**
 * The store at work: the order in which changes of a key become visible and durable.
 *
 * <p>{@link io.millrace.store.engine.StoreEngine} is the way in; only this package and those beneath it know all parts of the
 * store. {@code object} holds stored objects, {@code filling} bodies that arrive, {@code volume} the volumes together, and
 * {@code listing} the inventories.
 */
@NullMarked
package io.millrace.store.engine;

import org.jspecify.annotations.NullMarked;
