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

/** Who may be forwarded to where, although no rule maps it: nobody, unless the configuration says so. Immutable. */
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
     * What a configuration means.
     *
     * @param built what is listened on by, whatever the configuration says since
     * @param own the addresses of this machine, which are read where they matter
     */
    public static ForwardAccess of(ProxyConfig config, ProxyConfig built, OwnAddresses own) {
        ForwardProxyConfig forward = config.forwardProxy();
        Set<Integer> ports = new HashSet<>();
        for (ProxyConfig each : List.of(config, built)) {
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

    /** Whether anybody is forwarded. */
    public boolean isEnabled() {
        return enabled;
    }

    /** Whether the client is; none that is not known. */
    public boolean isClient(@Nullable IpAddress client) {
        return enabled && clients.contains(client);
    }

    /** Whether CONNECT may go to the port. */
    public boolean isConnectPort(int port) {
        return connectPorts.contains(port);
    }

    /** Where to. */
    public Destinations destinations() {
        return destinations;
    }
}
