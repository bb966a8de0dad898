package io.millrace.proxy.fetch;

import java.net.InetAddress;

/**
 * Decides to which addresses a request may be sent. Called for every resolved address of a name, immediately before the
 * connection is made. So a changed DNS answer cannot bypass the check (DNS rebinding).
 *
 * <p>Called on event loops; never blocks. Requests with the same check share connections.
 */
public interface AddressCheck {
    /** Returns true if a connection to the address and port is permitted. */
    boolean allows(InetAddress address, int port);
}
