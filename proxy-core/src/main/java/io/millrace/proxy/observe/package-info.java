/**
 * The observability of the proxy: metrics and their counters. Each event loop has its own counters, which a scrape
 * sums. A method called by an event loop writes only to memory of this loop, without allocation, formatting or
 * blocking.
 */
@NullMarked
package io.millrace.proxy.observe;

import org.jspecify.annotations.NullMarked;
