/**
 * Fetches responses from origins. Contains name resolution, connection pools per event loop and origin, HTTP/1.1 with
 * strict framing, HTTP/2, deadlines and retries.
 *
 * <p>One {@link io.millrace.proxy.fetch.OriginClient} belongs to one event loop. A caller passes an
 * {@link io.millrace.proxy.fetch.OriginRequest} and gets an {@link io.millrace.proxy.fetch.OriginCall} to control it.
 * The caller's {@link io.millrace.proxy.fetch.OriginResponseHandler} receives the response. All calls happen on that
 * event loop, so this package needs no locks.
 */
@NullMarked
package io.millrace.proxy.fetch;

import org.jspecify.annotations.NullMarked;
