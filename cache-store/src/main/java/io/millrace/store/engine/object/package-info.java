/** Stored objects for readers, in RAM and on disk, and the threads that read blocks. */
@NullMarked
package io.millrace.store.engine.object;

import org.jspecify.annotations.NullMarked;
