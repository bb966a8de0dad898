/**
 * The decision about a request, and its inputs: settings, stored objects, time. The fast lane and full exchanges share
 * it.
 */
@NullMarked
package io.millrace.proxy.exchange.decide;

import org.jspecify.annotations.NullMarked;
