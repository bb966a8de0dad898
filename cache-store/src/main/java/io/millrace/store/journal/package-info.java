/**
 * The journal of a storage path: short durable entries that belong to the code that uses the store. The package uses
 * files only; it does not know objects.
 */
@NullMarked
package io.millrace.store.journal;

import org.jspecify.annotations.NullMarked;
