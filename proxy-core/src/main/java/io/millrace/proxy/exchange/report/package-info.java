/** Phases and outcomes of an exchange, and the counters, Via codes and statuses derived from them. */
@NullMarked
package io.millrace.proxy.exchange.report;

import org.jspecify.annotations.NullMarked;
