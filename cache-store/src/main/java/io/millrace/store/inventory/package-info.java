/**
 * What is stored, as people ask for it: one Chronicle Map per volume, off every request path, and the only place that
 * knows that library. Knows neither volumes nor records: the engine says what goes in and what of it still counts.
 */
@NullMarked
package io.millrace.store.inventory;

import org.jspecify.annotations.NullMarked;
