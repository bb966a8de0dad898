/** Traces: which requests become spans, and the rings from event loops to the receiver of spans. */
@NullMarked
package io.millrace.proxy.observe.trace;

import org.jspecify.annotations.NullMarked;
