/**
 * Fetches responses from origins: name resolution, connection pools per event loop and origin, HTTP/1.1 with strict
 * framing, deadlines and retries.
 *
 * <p>One {@link io.millrace.proxy.fetch.OriginClient} belongs to one event loop. A caller hands it an {@link
 * io.millrace.proxy.fetch.OriginRequest}, steers the exchange through the {@link io.millrace.proxy.fetch.OriginCall} it
 * gets back, and hears of the response through its {@link io.millrace.proxy.fetch.OriginResponseHandler}; all of it on
 * that event loop, so nothing here is locked or shared.
 */
@NullMarked
package io.millrace.proxy.fetch;

import org.jspecify.annotations.NullMarked;
