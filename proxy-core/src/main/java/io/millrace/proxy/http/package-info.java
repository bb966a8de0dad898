/**
 * The words of HTTP that every lane and every decision shares: fields, heads, target URIs and dates, as views over
 * bytes. Field values are ISO-8859-1 bytes kept as they came; nothing here knows a channel, a clock or a file.
 */
@NullMarked
package io.millrace.proxy.http;

import org.jspecify.annotations.NullMarked;
