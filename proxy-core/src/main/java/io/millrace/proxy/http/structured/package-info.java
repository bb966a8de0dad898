/** Structured Field Values for HTTP (RFC 9651): the value types and a strict parser. */
@NullMarked
package io.millrace.proxy.http.structured;

import org.jspecify.annotations.NullMarked;
