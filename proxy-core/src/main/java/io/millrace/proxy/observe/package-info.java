/**
 * The observability of the proxy: metrics, access logs, and the fields {@code Cache-Status} and {@code Via}. Each
 * event loop has its own counters, which a scrape sums. A method called by an event loop writes only to memory of
 * this loop, without allocation, formatting or blocking.
 */
@NullMarked
package io.millrace.proxy.observe;

import org.jspecify.annotations.NullMarked;
