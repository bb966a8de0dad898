package io.millrace.proxy.server;

import io.millrace.proxy.config.dns.DnsConfig;
import io.millrace.proxy.dns.DnsSettings;
import io.netty.resolver.HostsFileEntriesProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts the DNS section of a configuration to resolver settings. Reads the hosts file, so calls block. Stateless.
 */
public final class DnsSettingsFactory {
    private static final Logger log = LoggerFactory.getLogger(DnsSettingsFactory.class);
    private static final Path SYSTEM_HOSTS = Path.of("/etc/hosts");

    private DnsSettingsFactory() {}

    public static DnsSettings of(DnsConfig dns) {
        return new DnsSettings(
                dns.nameServers(),
                dns.zones().stream()
                        .map(zone -> new DnsSettings.Zone(zone.domain(), zone.nameServers()))
                        .toList(),
                hosts(dns.hostsFile(), dns.prefer() == DnsConfig.Prefer.IPV6),
                dns.prefer() == DnsConfig.Prefer.IPV6,
                dns.queryTimeoutNanos(),
                dns.ttlMinNanos(),
                dns.ttlMaxNanos(),
                dns.negativeTtlNanos(),
                dns.staleMaxNanos(),
                dns.downNanos(),
                dns.hostsMax(),
                dns.inFlightMax(),
                dns.srv());
    }

    private static Map<String, List<InetAddress>> hosts(@Nullable Path given, boolean prefersIpv6) {
        Path file = given == null ? SYSTEM_HOSTS : given;
        if (given == null && !Files.isReadable(file)) {
            return Map.of();
        }
        try {
            HostsFileEntriesProvider found =
                    HostsFileEntriesProvider.parser().parse(file.toFile(), StandardCharsets.UTF_8);
            Map<String, List<InetAddress>> hosts = new HashMap<>();
            add(prefersIpv6 ? found.ipv6Entries() : found.ipv4Entries(), hosts);
            add(prefersIpv6 ? found.ipv4Entries() : found.ipv6Entries(), hosts);
            hosts.replaceAll((name, addresses) -> List.copyOf(addresses));
            return Map.copyOf(hosts);
        } catch (IOException e) {
            log.error("{}: the hosts file cannot be read, so every host is looked up by DNS", file, e);
            return Map.of();
        }
    }

    private static void add(Map<String, List<InetAddress>> entries, Map<String, List<InetAddress>> to) {
        entries.forEach((name, addresses) ->
                to.computeIfAbsent(name, none -> new ArrayList<>()).addAll(addresses));
    }
}
