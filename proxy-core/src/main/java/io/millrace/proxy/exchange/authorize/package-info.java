/** Requests to authorisation servers. */
@NullMarked
package io.millrace.proxy.exchange.authorize;

import org.jspecify.annotations.NullMarked;
