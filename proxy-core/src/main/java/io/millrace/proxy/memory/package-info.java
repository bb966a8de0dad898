/** The budget for bytes in flight: levels, window sizes, and which slow clients are closed first. */
@NullMarked
package io.millrace.proxy.memory;

import org.jspecify.annotations.NullMarked;
