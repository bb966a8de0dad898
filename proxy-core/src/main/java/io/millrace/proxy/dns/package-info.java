/** Names to addresses: what is known of hosts, and asking name servers without ever blocking an event loop. */
@NullMarked
package io.millrace.proxy.dns;

import org.jspecify.annotations.NullMarked;
