/** The frames of HTTP/2 and their errors, for clients and for origins (RFC 9113). */
@NullMarked
package io.millrace.proxy.http2.frame;

import org.jspecify.annotations.NullMarked;
