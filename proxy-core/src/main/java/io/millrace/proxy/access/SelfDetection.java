package io.millrace.proxy.access;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.http.IpAddress;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Detects whether a URL's host is this proxy. Its port must be one of the listen ports. Its host must be an address
 * that reaches that listener, or this machine's name. Other names of this machine, which only a name server can
 * resolve, are not detected. Immutable.
 */
public final class SelfDetection implements Predicate<RuleUrl> {
    private static final Path HOSTNAME = Path.of("/proc/sys/kernel/hostname");

    private final List<ListenerConfig> listeners;
    private final OwnAddresses ownAddresses;
    /** This machine's name in lower case; empty if the machine has no name. */
    private final String name;

    SelfDetection(List<ListenerConfig> listeners, OwnAddresses ownAddresses, String name) {
        this.listeners = listeners;
        this.ownAddresses = ownAddresses;
        this.name = name;
    }

    /**
     * Creates the detection for a configuration. Reads this machine's name and addresses from the system: must not run
     * on event loops.
     */
    public static SelfDetection of(ProxyConfig config, OwnAddresses ownAddresses) {
        if (config.originGroups().isEmpty()) {
            return new SelfDetection(List.of(), ownAddresses, "");
        }
        ownAddresses.read();
        return new SelfDetection(config.listeners(), ownAddresses, machineName());
    }

    /** Returns the system's host name without a DNS query; empty if there is none. */
    private static String machineName() {
        try {
            return Files.readString(HOSTNAME).strip().toLowerCase(Locale.ROOT);
        } catch (IOException e) {
            String hostName = System.getenv("HOSTNAME");
            return hostName == null ? "" : hostName.toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public boolean test(RuleUrl url) {
        String host = String.valueOf(url.host());
        boolean isName = !name.isEmpty() && host.equals(name);
        byte[] literal = NetUtil.createByteArrayFromIpAddressString(
                host.equals("localhost") ? "127.0.0.1" : host.replace("[", "").replace("]", ""));
        for (ListenerConfig listener : listeners) {
            String ip = listener.address().ip();
            if (listener.address().port() == url.effectivePort()
                    && (literal == null ? isName && !isLoopback(ip) : reaches(IpAddress.of(literal), ip))) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if the listen address is loopback. Clients do not reach such a listener by this machine's name. */
    private static boolean isLoopback(@Nullable String ip) {
        byte[] bytes = ip == null ? null : NetUtil.createByteArrayFromIpAddressString(ip);
        IpAddress address = bytes == null ? null : IpAddress.of(bytes);
        return address != null && !isUnspecified(address) && Destinations.isLoopbackOrUnspecified(address);
    }

    /**
     * @param ip the listen address; null for all addresses
     */
    private boolean reaches(IpAddress address, @Nullable String ip) {
        if (ip != null) {
            byte[] bytes = NetUtil.createByteArrayFromIpAddressString(ip);
            IpAddress listening = bytes == null ? null : IpAddress.of(bytes);
            return address.equals(listening)
                    || (listening != null && isUnspecified(listening) && reaches(address, null));
        }
        return Destinations.isLoopbackOrUnspecified(address) || ownAddresses.contains(address);
    }

    private static boolean isUnspecified(IpAddress address) {
        return address.isV4() ? address.v4() == 0 : address.high() == 0 && address.low() == 0;
    }
}
