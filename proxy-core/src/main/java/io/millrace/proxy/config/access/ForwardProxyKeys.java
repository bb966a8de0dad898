package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.AddressSet;
import java.util.List;

/** Configuration keys for the forward proxy, which serves requests that no rule maps. */
public final class ForwardProxyKeys {
    public static final ConfigKey<Boolean> ENABLED = ConfigKey.builder("forward_proxy.enabled", ValueType.BOOLEAN)
            .defaultsTo(false)
            .atsName("proxy.config.url_remap.remap_required 0")
            .description(
                    "Whether CONNECT, and requests for a whole URL that no rule maps, go to the host that the client names;"
                            + " see docs/guide/forward-proxy.md.");
    public static final ConfigKey<AddressSet> ALLOW = ConfigKey.builder("forward_proxy.allow", ValueType.ADDRESSES)
            .atsName("ip_allow.yaml (apply: in)")
            .description(
                    "Clients whose requests are forwarded; all others get 403. Required if forward_proxy is enabled.");
    public static final ConfigKey<List<String>> CONNECT_PORTS = ConfigKey.builder(
                    "forward_proxy.connect_ports", ValueType.PORTS)
            .defaultsTo(List.of("443"))
            .atsName("proxy.config.http.connect_ports")
            .description("Ports permitted for CONNECT; an empty list permits none.");
    public static final ConfigKey<AddressSet> DENY_DESTINATIONS = ConfigKey.builder(
                    "forward_proxy.deny_destinations", ValueType.ADDRESSES)
            .defaultsTo(
                    AddressSet.parse(
                            // Special-purpose addresses of RFC 6890 and its successors: this host, private, shared,
                            // loopback, link-local, documentation, benchmarking, multicast and others.
                            "0.0.0.0/8",
                            "10.0.0.0/8",
                            "100.64.0.0/10",
                            "127.0.0.0/8",
                            "169.254.0.0/16",
                            "172.16.0.0/12",
                            "192.0.0.0/24",
                            "192.0.2.0/24",
                            "192.168.0.0/16",
                            "198.18.0.0/15",
                            "198.51.100.0/24",
                            "203.0.113.0/24",
                            "224.0.0.0/3",
                            // Metadata service of a cloud provider, in an otherwise public address range.
                            "168.63.129.16",
                            // Special-purpose addresses of IPv6: this host and embedded IPv4, local NAT64, discard,
                            // ORCHID (RFC 4843, 7343), documentation, segment routing (RFC 9602), private, link-local,
                            // multicast.
                            "::/32",
                            "64:ff9b:1::/48",
                            "100::/64",
                            "2001:10::/28",
                            "2001:20::/28",
                            "2001:db8::/32",
                            "3fff::/20",
                            "5f00::/16",
                            "fc00::/7",
                            "fe80::/9",
                            "ff00::/8"),
                    "private, shared, loopback, link-local, multicast, reserved and documentation ranges, and the"
                            + " metadata addresses of clouds")
            .atsName("ip_allow.yaml (apply: out)")
            .description("Addresses to which nothing is forwarded; every address of a host is checked before it is"
                    + " connected to. An IPv4 address embedded in an IPv6 address is checked as well.");
    public static final ConfigKey<AddressSet> ALLOW_DESTINATIONS = ConfigKey.builder(
                    "forward_proxy.allow_destinations", ValueType.ADDRESSES)
            .atsName("ip_allow.yaml (apply: out)")
            .description("Exceptions from deny_destinations.");

    public static final ConfigKey<String> ORIGINS = ConfigKey.builder("forward_proxy.origins", ValueType.STRING)
            .atsName("parent.config (dest_domain=.)")
            .description(
                    "Name of a group of origins with parent_is_proxy: true; requests for a whole URL and CONNECT go to"
                            + " its proxies. The destinations are connected to directly only if the group has"
                            + " go_direct: true.");

    private ForwardProxyKeys() {}
}
