/**
 * What the proxy tells its operator: counters per event loop summed at a scrape, the Prometheus text, the access log, and
 * the response fields that say what the cache did ({@code Cache-Status}, {@code Via}). Everything an event loop calls here
 * writes to memory that only this loop writes, without allocation, formatting or waiting.
 */
@NullMarked
package io.millrace.proxy.observe;

import org.jspecify.annotations.NullMarked;
