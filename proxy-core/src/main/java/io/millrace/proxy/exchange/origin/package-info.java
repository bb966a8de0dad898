/** Requests to the hosts of origin groups: chooses the host, and retries with other hosts after a failure. */
@NullMarked
package io.millrace.proxy.exchange.origin;

import org.jspecify.annotations.NullMarked;
