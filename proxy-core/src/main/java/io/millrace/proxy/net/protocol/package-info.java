/**
 * Start of a client connection: the PROXY header, then the choice between HTTP/1.1 and HTTP/2 by ALPN or by the first
 * bytes.
 */
@NullMarked
package io.millrace.proxy.net.protocol;

import org.jspecify.annotations.NullMarked;
