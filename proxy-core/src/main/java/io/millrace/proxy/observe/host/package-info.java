/** Requests by host: tables of event loops, and the figures of the hosts with most requests. */
@NullMarked
package io.millrace.proxy.observe.host;

import org.jspecify.annotations.NullMarked;
