/** Stored objects in RAM and on disk as readers see them, and the threads that read blocks. */
@NullMarked
package io.millrace.store.engine.object;

import org.jspecify.annotations.NullMarked;
