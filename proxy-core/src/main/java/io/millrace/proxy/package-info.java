/** Placeholder sentence. */
@NullMarked
package io.millrace.proxy;

import org.jspecify.annotations.NullMarked;
