/**
 * The access log. Event loops write binary records into their own rings without blocking. One writer thread converts
 * them to lines of a known format, appends the lines to a file, and rotates the file.
 */
@NullMarked
package io.millrace.proxy.observe.log;

import org.jspecify.annotations.NullMarked;
