/** Encoders of response content, and the threads on which they run. */
@NullMarked
package io.millrace.proxy.encode;

import org.jspecify.annotations.NullMarked;
