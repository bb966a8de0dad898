/** Bodies being received: the blocks present, their writers and readers, and the register of fills by key. */
@NullMarked
package io.millrace.store.engine.filling;

import org.jspecify.annotations.NullMarked;
