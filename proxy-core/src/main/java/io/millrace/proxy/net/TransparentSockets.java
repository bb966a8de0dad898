package io.millrace.proxy.net;

import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/**
 * The socket option of transparent proxies, IP_TRANSPARENT (ip(7)). A listening socket with this option accepts
 * connections to any destination that the kernel diverts to it. A client socket with this option may be bound to an
 * address of another machine. On IPv6 sockets the option applies to both address families.
 *
 * <p>Thread-safe: no state.
 */
public final class TransparentSockets {
    private static final int SOL_IP = 0;
    private static final int IP_TRANSPARENT = 19;

    private TransparentSockets() {}

    /**
     * Sets or clears the option of an address's listening sockets. Checks that this process may use the option, if
     * connections to origins need it.
     *
     * @param address as configured, for messages
     * @param listening borrowed
     * @throws IOException if the kernel refuses the option; the message contains the address, the configuration key and
     *     the remedy
     */
    public static void apply(String address, Transparency mode, List<? extends FileDescriptor> listening)
            throws IOException {
        // Loads the native library.
        Epoll.ensureAvailability();
        try {
            for (FileDescriptor each : listening) {
                set(new Socket(each.intValue()), mode.acceptsDiverted());
            }
            if (mode.spoofsClientAddress()) {
                check();
            }
        } catch (IOException | ChannelException e) {
            // If the kernel refuses the option, Netty throws a ChannelException, which is unchecked.
            throw new IOException(refused(address, mode, e), e);
        }
    }

    private static void set(Socket socket, boolean on) throws IOException {
        int value = on ? 1 : 0;
        if (socket.getIntOpt(SOL_IP, IP_TRANSPARENT) != value) {
            socket.setIntOpt(SOL_IP, IP_TRANSPARENT, value);
        }
    }

    private static void check() throws IOException {
        Socket probe = Socket.newSocketStream();
        try {
            set(probe, true);
        } finally {
            probe.close();
        }
    }

    /** Returns the message for a refused option. */
    static String refused(String address, Transparency mode, Exception cause) {
        return address + " cannot be transparent (listen[].transparent: "
                + mode.name().toLowerCase(Locale.ROOT) + "): " + cause.getMessage()
                + "; the option IP_TRANSPARENT needs CAP_NET_ADMIN: add it to AmbientCapabilities and"
                + " CapabilityBoundingSet of the service (systemctl edit millrace), use --cap-add NET_ADMIN for a"
                + " container, or run as root";
    }
}
