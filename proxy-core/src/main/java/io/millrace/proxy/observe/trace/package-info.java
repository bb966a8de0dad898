/** Traces: the choice of requests that become spans, and the way of spans from event loops to their receiver. */
@NullMarked
package io.millrace.proxy.observe.trace;

import org.jspecify.annotations.NullMarked;
