/**
 * The start of a client connection. First the PROXY header is read, then ALPN or the first bytes decide between
 * HTTP/1.1 and HTTP/2.
 */
@NullMarked
package io.millrace.proxy.net.protocol;

import org.jspecify.annotations.NullMarked;
