/**
 * Components of origin connections that are specific to HTTP/1.1: keep-alive and the PROXY header. Independent of pools
 * and calls.
 */
@NullMarked
package io.millrace.proxy.fetch.http1;

import org.jspecify.annotations.NullMarked;
