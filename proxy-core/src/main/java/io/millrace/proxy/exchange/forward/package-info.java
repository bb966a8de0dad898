/**
 * Components of fetches and responses that do not need {@code ExchangeLoop}. They compose requests to origins, defer
 * events, build response heads, send bodies, and match responses with followers.
 */
@NullMarked
package io.millrace.proxy.exchange.forward;

import org.jspecify.annotations.NullMarked;
