/** HTTP/1.1 towards clients (RFC 9112): parses requests, and writes response heads and content. */
@NullMarked
package io.millrace.proxy.http1;

import org.jspecify.annotations.NullMarked;
