/**
 * The store at work: what a key holds, in RAM, on its way to disk, on disk or being filled, and the order in which
 * changes of it become visible and durable. {@link io.millrace.store.engine.StoreEngine} is the way in; only this
 * package knows all the rooms.
 */
@NullMarked
package io.millrace.store.engine;

import org.jspecify.annotations.NullMarked;
