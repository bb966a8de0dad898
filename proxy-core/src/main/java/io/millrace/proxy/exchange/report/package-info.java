/** Phases and outcomes of an exchange, and the counters, Via letters and statuses that stand for them. */
@NullMarked
package io.millrace.proxy.exchange.report;

import org.jspecify.annotations.NullMarked;
