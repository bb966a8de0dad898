/**
 * Components of origin connections that are specific to HTTP/1.1: keep-alive and the PROXY header. Independent of
 * connection pools and of single requests to origins.
 */
@NullMarked
package io.millrace.proxy.fetch.http1;

import org.jspecify.annotations.NullMarked;
