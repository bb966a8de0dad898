/** Limits of concurrent requests, tunnels and connections per client, and of requests in a time. */
@NullMarked
package io.millrace.proxy.clients;

import org.jspecify.annotations.NullMarked;
