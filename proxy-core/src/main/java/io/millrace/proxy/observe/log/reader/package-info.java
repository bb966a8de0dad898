/** Reads binary access logs, and prints them in the text formats. Needs no running proxy. */
@NullMarked
package io.millrace.proxy.observe.log.reader;

import org.jspecify.annotations.NullMarked;
