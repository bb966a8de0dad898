package io.millrace.proxy.fetch;

import java.net.InetAddress;

/**
 * A check of the addresses to which a request may be sent. Called for every resolved address of a name, immediately
 * before the connection is made. So a changed DNS answer (DNS rebinding) cannot bypass the check.
 *
 * <p>Called on event loops; never blocks. Requests with the same check share connections.
 */
public interface AddressCheck {
    /** Returns true if a connection to the address and port is permitted. */
    boolean allows(InetAddress address, int port);
}
