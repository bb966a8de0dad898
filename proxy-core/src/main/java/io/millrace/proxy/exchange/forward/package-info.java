/**
 * Components of fetches and responses that do not need {@code ExchangeLoop}. They compose requests to origins, queue
 * the events of an origin connection, build response heads, send bodies, and decide which exchanges may share
 * a response.
 */
@NullMarked
package io.millrace.proxy.exchange.forward;

import org.jspecify.annotations.NullMarked;
