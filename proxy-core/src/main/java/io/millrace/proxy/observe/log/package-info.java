/**
 * The access log: event loops put fixed binary records into rings of their own without waiting, and one writer thread
 * turns them into lines of a known format, appends them to a file and rotates it.
 */
@NullMarked
package io.millrace.proxy.observe.log;

import org.jspecify.annotations.NullMarked;
