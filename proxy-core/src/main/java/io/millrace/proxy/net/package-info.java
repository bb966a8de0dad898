/**
 * Event loops and listening sockets: step 1 of the request path in docs/ARCHITECTURE.md. Also contains the interfaces
 * between client connections and exchanges.
 */
@NullMarked
package io.millrace.proxy.net;

import org.jspecify.annotations.NullMarked;
