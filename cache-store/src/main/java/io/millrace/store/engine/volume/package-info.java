/** The volumes of a store: selection by key, admission, the switch between offline and online, and the journal. */
@NullMarked
package io.millrace.store.engine.volume;

import org.jspecify.annotations.NullMarked;
