/**
 * Several access logs at once. One thread reads the rings of all event loops, applies filters and samples, and writes
 * lines into the queue of each log. One sender thread for each log writes them to its target, so that a slow target
 * affects no other log.
 */
@NullMarked
package io.millrace.proxy.observe.log.output;

import org.jspecify.annotations.NullMarked;
