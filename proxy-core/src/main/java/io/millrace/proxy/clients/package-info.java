/** Limits of concurrent requests, tunnels and connections per client, and request rate limits. */
@NullMarked
package io.millrace.proxy.clients;

import org.jspecify.annotations.NullMarked;
