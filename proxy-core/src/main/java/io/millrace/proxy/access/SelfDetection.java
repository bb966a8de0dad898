package io.millrace.proxy.access;

import io.millrace.proxy.config.ListenerConfig;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.RuleUrl;
import io.millrace.proxy.http.IpAddress;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Whether a URL's host is this proxy: its port is one of those that it listens on, and its host is an address that reaches that listener, or this machine's
 * name. Names that only a name server knows to be this machine's are not found out. Immutable.
 */
public final class SelfDetection implements Predicate<RuleUrl> {
    private final List<ListenerConfig> listeners;
    private final OwnAddresses own;
    private final List<String> names;

    SelfDetection(List<ListenerConfig> listeners, OwnAddresses own, List<String> names) {
        this.listeners = listeners;
        this.own = own;
        this.names = names;
    }

    /** For a configuration. Asks the system for this machine's name and addresses; not for event loops. */
    public static SelfDetection of(ProxyConfig config, OwnAddresses own) {
        if (config.originGroups().isEmpty()) {
            return new SelfDetection(List.of(), own, List.of());
        }
        own.read();
        List<String> names = new ArrayList<>(List.of("localhost"));
        try {
            names.add(InetAddress.getLocalHost().getHostName().toLowerCase(Locale.ROOT));
        } catch (UnknownHostException e) {
            // A machine whose name leads nowhere; its addresses do.
        }
        return new SelfDetection(config.listeners(), own, names);
    }

    @Override
    public boolean test(RuleUrl url) {
        String host = String.valueOf(url.host());
        byte[] literal =
                NetUtil.createByteArrayFromIpAddressString(host.replace("[", "").replace("]", ""));
        for (ListenerConfig listener : listeners) {
            if (listener.address().port() == url.effectivePort()
                    && (literal == null
                            ? names.contains(host)
                            : reaches(IpAddress.of(literal), listener.address().ip()))) {
                return true;
            }
        }
        return false;
    }

    /** @param ip that is listened on; null for all */
    private boolean reaches(IpAddress address, @Nullable String ip) {
        if (ip != null) {
            byte[] bytes = NetUtil.createByteArrayFromIpAddressString(ip);
            IpAddress listening = bytes == null ? null : IpAddress.of(bytes);
            return address.equals(listening) || (listening != null && isAny(listening) && reaches(address, null));
        }
        return Destinations.isLoopbackOrNone(address) || own.contains(address);
    }

    private static boolean isAny(IpAddress address) {
        return address.isV4() ? address.v4() == 0 : address.high() == 0 && address.low() == 0;
    }
}
