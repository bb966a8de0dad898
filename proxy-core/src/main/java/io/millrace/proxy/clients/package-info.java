/** Concurrent use per client, and its limits. */
@NullMarked
package io.millrace.proxy.clients;

import org.jspecify.annotations.NullMarked;
