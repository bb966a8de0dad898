/**
 * Step 1 of the request path: event loops, listening sockets, TLS contexts, and the interfaces between client
 * connections and exchanges.
 */
@NullMarked
package io.millrace.proxy.net;

import org.jspecify.annotations.NullMarked;
