/**
 * Components of a fetch and its response that do not depend on the exchange's event loop: requests to origins, deferred
 * events, heads, senders of bodies, the match of a response with its followers.
 */
@NullMarked
package io.millrace.proxy.exchange.forward;

import org.jspecify.annotations.NullMarked;
