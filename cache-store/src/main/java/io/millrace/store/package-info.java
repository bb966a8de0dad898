/** Placeholder sentence. */
@NullMarked
package io.millrace.store;

import org.jspecify.annotations.NullMarked;
