/** Step 2: HTTP/2 on the client's side. Turns frames into requests and response heads into frames; RFC 9113, RFC 7541. */
@NullMarked
package io.millrace.proxy.http2;

import org.jspecify.annotations.NullMarked;
