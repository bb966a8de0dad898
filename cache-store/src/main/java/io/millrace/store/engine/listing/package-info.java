/**
 * Listings and searches of the inventories of all volumes. An inventory is the table of the stored objects of a volume,
 * in one file for each segment.
 */
@NullMarked
package io.millrace.store.engine.listing;

import org.jspecify.annotations.NullMarked;
