/** Limits and counts of concurrent requests, tunnels and connections per client. */
@NullMarked
package io.millrace.proxy.clients;

import org.jspecify.annotations.NullMarked;
