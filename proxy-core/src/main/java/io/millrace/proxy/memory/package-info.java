/** The memory budget for bytes in flight: levels, window sizes, and the selection of slow clients to close. */
@NullMarked
package io.millrace.proxy.memory;

import org.jspecify.annotations.NullMarked;
