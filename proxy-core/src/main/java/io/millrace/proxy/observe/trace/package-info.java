/** Traces: selects the requests that become spans, and sends spans from event loops to their receiver. */
@NullMarked
package io.millrace.proxy.observe.trace;

import org.jspecify.annotations.NullMarked;
