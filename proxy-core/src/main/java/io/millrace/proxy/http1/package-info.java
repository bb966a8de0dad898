/** Step 2: HTTP/1.1 on the client's side. Turns the wire into requests and response heads into bytes; RFC 9112. */
@NullMarked
package io.millrace.proxy.http1;

import org.jspecify.annotations.NullMarked;
