/**
 * Choice between HTTP/1.1 and HTTP/2 on a client's connection, by ALPN or by the first bytes.
 */
@NullMarked
package io.millrace.proxy.net.protocol;

import org.jspecify.annotations.NullMarked;
