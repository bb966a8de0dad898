/** Structured Field Values for HTTP (RFC 9651): the values, and a strict parser. */
@NullMarked
package io.millrace.proxy.http.structured;

import org.jspecify.annotations.NullMarked;
