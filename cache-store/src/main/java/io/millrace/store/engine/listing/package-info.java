/**
 * Listings and searches of the inventories of all volumes.
 */
@NullMarked
package io.millrace.store.engine.listing;

import org.jspecify.annotations.NullMarked;
