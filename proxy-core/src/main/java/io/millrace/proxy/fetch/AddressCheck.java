package io.millrace.proxy.fetch;

import java.net.InetAddress;

/**
 * Which addresses a request may go to. Asked for every address that a name has, right before one of those that pass is connected to: what a name server says at
 * another time does not count.
 *
 * <p>Called on event loops, and never blocks. Requests with the same check share connections.
 */
public interface AddressCheck {
    /** Whether a connection may be made. */
    boolean allows(InetAddress address, int port);
}
