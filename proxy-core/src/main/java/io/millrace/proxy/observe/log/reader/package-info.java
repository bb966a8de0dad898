/** Reads binary access logs, and prints them in the formats of text. Needs no running proxy. */
@NullMarked
package io.millrace.proxy.observe.log.reader;

import org.jspecify.annotations.NullMarked;
