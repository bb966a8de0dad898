/**
 * The observability of the proxy: counters per event loop summed at a scrape, the Prometheus text, the access log, and
 * the response fields {@code Cache-Status} and {@code Via}. Methods called by an event loop write to memory of this
 * loop only, without allocation, formatting or blocking.
 */
@NullMarked
package io.millrace.proxy.observe;

import org.jspecify.annotations.NullMarked;
