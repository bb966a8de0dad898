/** The frames of HTTP/2, as both sides of this proxy read and write them, and their errors (RFC 9113). */
@NullMarked
package io.millrace.proxy.http2.frame;

import org.jspecify.annotations.NullMarked;
