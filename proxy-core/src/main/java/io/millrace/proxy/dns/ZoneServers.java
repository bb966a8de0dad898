package io.millrace.proxy.dns;

import io.netty.resolver.dns.DnsServerAddressStream;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.DnsServerAddressStreamProviders;
import io.netty.resolver.dns.DnsServerAddresses;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Selects the name servers for a name: those of the longest matching domain, else the general ones. Immutable. */
final class ZoneServers implements DnsServerAddressStreamProvider {
    private final Map<String, DnsServerAddresses> zones = new HashMap<>();
    private final @Nullable DnsServerAddresses general;

    ZoneServers(DnsSettings settings) {
        for (DnsSettings.Zone zone : settings.zones()) {
            zones.put(zone.domain(), DnsServerAddresses.sequential(zone.nameServers()));
        }
        general = settings.nameServers().isEmpty() ? null : DnsServerAddresses.sequential(settings.nameServers());
    }

    @Override
    public DnsServerAddressStream nameServerAddressStream(String hostname) {
        String name = hostname.toLowerCase(Locale.ROOT);
        if (name.endsWith(".")) {
            name = name.substring(0, name.length() - 1);
        }
        for (int at = 0; !zones.isEmpty() && at >= 0; ) {
            DnsServerAddresses ofDomain = zones.get(name.substring(at));
            if (ofDomain != null) {
                return ofDomain.stream();
            }
            int dot = name.indexOf('.', at);
            at = dot < 0 ? -1 : dot + 1;
        }
        return general == null
                ? DnsServerAddressStreamProviders.platformDefault().nameServerAddressStream(hostname)
                : general.stream();
    }
}
