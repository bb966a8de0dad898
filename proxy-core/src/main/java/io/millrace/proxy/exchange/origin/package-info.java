/** Requests to the hosts of origin groups: the choice of the host, and other hosts after a failure. */
@NullMarked
package io.millrace.proxy.exchange.origin;

import org.jspecify.annotations.NullMarked;
