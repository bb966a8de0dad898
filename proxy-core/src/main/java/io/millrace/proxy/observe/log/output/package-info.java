/**
 * Several access logs at the same time. One dispatcher thread reads the rings of all event loops, applies filters
 * and samples, and writes lines into the queue of each log. Each log has a sender thread that writes its queue to
 * the target. Therefore a slow target affects no other log.
 */
@NullMarked
package io.millrace.proxy.observe.log.output;

import org.jspecify.annotations.NullMarked;
