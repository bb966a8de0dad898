package io.millrace.proxy.access;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ForwardProxyConfig;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.http.IpAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rights of clients to reach hosts that no remap rule maps (forward proxy). By default no client has these rights.
 * Immutable.
 */
public final class ForwardAccess {
    private final boolean enabled;
    private final AddressSet clients;
    private final List<Integer> connectPorts;
    private final Destinations destinations;

    private ForwardAccess(ForwardProxyConfig config, Destinations destinations) {
        enabled = config.enabled();
        clients = config.allow();
        connectPorts = config.connectPorts();
        this.destinations = destinations;
    }

    /**
     * Returns the rights of a configuration.
     *
     * @param startConfig the configuration at start, which determines the listeners
     * @param own the addresses of this machine, which are read if forwarding is enabled
     */
    public static ForwardAccess of(ProxyConfig config, ProxyConfig startConfig, OwnAddresses own) {
        ForwardProxyConfig forward = config.forwardProxy();
        Set<Integer> ports = new HashSet<>();
        for (ProxyConfig each : List.of(config, startConfig)) {
            each.listeners().forEach(listener -> ports.add(listener.address().port()));
            ListenAddress admin = each.admin().listen();
            if (admin != null) {
                ports.add(admin.port());
            }
        }
        if (forward.enabled()) {
            own.read();
        }
        return new ForwardAccess(forward, new Destinations(forward, own, Set.copyOf(ports)));
    }

    /** Returns true if forwarding is enabled. */
    public boolean isEnabled() {
        return enabled;
    }

    /** Returns true if requests of the client may be forwarded; false for an unknown client. */
    public boolean mayForward(@Nullable IpAddress client) {
        return enabled && clients.contains(client);
    }

    /** Returns true if CONNECT to the port is allowed. */
    public boolean isConnectPort(int port) {
        return connectPorts.contains(port);
    }

    /** The allowed destinations. */
    public Destinations destinations() {
        return destinations;
    }
}
