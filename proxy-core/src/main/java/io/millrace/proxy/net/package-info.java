/** Step 1 of the request path: event loops, listening sockets, TLS contexts, and the words in which a client connection and the exchange speak with each other. */
@NullMarked
package io.millrace.proxy.net;

import org.jspecify.annotations.NullMarked;
