/**
 * The HTTP types that all other packages share: fields, heads, target URIs and dates, as views over bytes. Field values
 * are the received ISO-8859-1 bytes. Independent of channels, clocks and files.
 */
@NullMarked
package io.millrace.proxy.http;

import org.jspecify.annotations.NullMarked;
