/** The journal of a storage path: short durable entries. It depends on files only, not on objects. */
@NullMarked
package io.millrace.store.journal;

import org.jspecify.annotations.NullMarked;
