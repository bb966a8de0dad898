/** Placeholder sentence. */
@NullMarked
package io.millrace.launcher;

import org.jspecify.annotations.NullMarked;
