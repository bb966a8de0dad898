/** The volumes of a store: selection by key, admission, offline and return, and the journal kept on all volumes. */
@NullMarked
package io.millrace.store.engine.volume;

import org.jspecify.annotations.NullMarked;
