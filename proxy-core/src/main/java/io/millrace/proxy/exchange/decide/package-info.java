/**
 * The decision about a request, and its inputs: settings, stored objects, time. The fast lane (a short code path for
 * hits in RAM) and full exchanges share it.
 */
@NullMarked
package io.millrace.proxy.exchange.decide;

import org.jspecify.annotations.NullMarked;
