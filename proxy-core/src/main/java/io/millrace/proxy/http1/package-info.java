/** Step 2: HTTP/1.1 towards clients (RFC 9112). Parses requests and writes response heads. */
@NullMarked
package io.millrace.proxy.http1;

import org.jspecify.annotations.NullMarked;
