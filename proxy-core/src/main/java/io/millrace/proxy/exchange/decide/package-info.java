/**
 * The decision about a request: access, rule, cache key, lookup and reuse. The fast lane (a short code path for hits in
 * RAM) and full exchanges share it.
 */
@NullMarked
package io.millrace.proxy.exchange.decide;

import org.jspecify.annotations.NullMarked;
