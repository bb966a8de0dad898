/** The memory budget for bytes in flight: its levels of use, window sizes, and the slow clients to close. */
@NullMarked
package io.millrace.proxy.memory;

import org.jspecify.annotations.NullMarked;
