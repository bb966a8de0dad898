/**
 * The store engine, which orders the changes of each key in RAM, log and index.
 *
 * <p>{@link io.millrace.store.engine.StoreEngine} is the entry point. Only this package and its subpackages use all
 * parts of the store. The subpackage {@code object} holds the types of stored objects, {@code filling} the bodies being
 * received, {@code volume} the group of volumes, and {@code listing} the inventories.
 */
@NullMarked
package io.millrace.store.engine;

import org.jspecify.annotations.NullMarked;
