package io.millrace.worker.control;

/**
 * The description of the listening sockets of one configured address. The address has a single socket, or a
 * SO_REUSEPORT group. Immutable.
 *
 * @param address the address in the configuration, for example {@code :8080}
 * @param boundAddress the bound address, for example {@code :8080} or {@code 127.0.0.1:8080}; the port is never 0
 * @param count number of descriptors that a worker gets; if event loops share a socket, its descriptor is repeated
 */
public record ListenerSockets(String address, String boundAddress, int count) {
    public ListenerSockets {
        if (count < 1 || count > 4096) {
            throw new IllegalArgumentException("sockets of " + address + ": actual=" + count + ", limit=1..4096");
        }
    }
}
