/**
 * The access log. Event loops write binary records into ring buffers, one per loop, without blocking. A writer
 * thread converts the records to lines, appends the lines to a file, and rotates the file.
 */
@NullMarked
package io.millrace.proxy.observe.log;

import org.jspecify.annotations.NullMarked;
