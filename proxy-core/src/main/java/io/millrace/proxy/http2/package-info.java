/**
 * HTTP/2 with clients: step 2 of the request path in docs/ARCHITECTURE.md. Converts frames to requests and response
 * heads to frames (RFC 9113, RFC 7541).
 */
@NullMarked
package io.millrace.proxy.http2;

import org.jspecify.annotations.NullMarked;
