/**
 * Step 1 of the request path: event loops and listening sockets. Also contains the interfaces between client
 * connections and exchanges.
 */
@NullMarked
package io.millrace.proxy.net;

import org.jspecify.annotations.NullMarked;
