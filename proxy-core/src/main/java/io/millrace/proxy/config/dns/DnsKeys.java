package io.millrace.proxy.config.dns;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Configuration keys for the name resolution of origins. */
public final class DnsKeys {
    public static final ConfigKey<List<String>> NAME_SERVERS = ConfigKey.builder("dns.name_servers", ValueType.NAMES)
            .atsName("proxy.config.dns.nameservers")
            .description(
                    "Name servers, such as 192.0.2.53 or [2001:db8::53]:5353; the next one is used when one does not"
                            + " answer. By default, the name servers in /etc/resolv.conf.");
    public static final ConfigKey<List<ConfigValues>> SPLIT = ConfigKey.builder("dns.split", ValueType.LIST)
            .atsName("splitdns.config, proxy.config.dns.splitDNS.enabled")
            .description("Domains with their own name servers; for a name in several of these domains the longest one"
                    + " applies.");
    public static final ConfigKey<List<String>> SPLIT_DOMAINS = ConfigKey.builder(
                    "dns.split[].domains", ValueType.NAMES)
            .required()
            .atsName("dest_domain")
            .description("The domains; names below a domain belong to it.");
    public static final ConfigKey<List<String>> SPLIT_NAME_SERVERS = ConfigKey.builder(
                    "dns.split[].name_servers", ValueType.NAMES)
            .required()
            .atsName("named")
            .description("Name servers of the domains, as in dns.name_servers.");
    public static final ConfigKey<Boolean> SRV = ConfigKey.builder("dns.srv", ValueType.BOOLEAN)
            .defaultsTo(false)
            .atsName("proxy.config.srv_enabled")
            .description("Whether SRV records (_http._tcp or _https._tcp before the name) are looked up for origins"
                    + " that a rule or a group names without a port. Connections go to the hosts and ports in the"
                    + " records, by priority and weight. Without records they go to the addresses of the name.");
    public static final ConfigKey<Path> HOSTS_FILE = ConfigKey.builder("dns.hosts_file", ValueType.PATH)
            .atsName("proxy.config.hostdb.host_file.path")
            .description(
                    "File with an address and its names on each line. These names are not looked up by DNS. It is read"
                            + " at the start and at each reload. The default is /etc/hosts, if it exists.");
    public static final ConfigKey<DnsConfig.Prefer> PREFER = ConfigKey.builder(
                    "dns.prefer", ValueType.word(DnsConfig.Prefer.class, false))
            .defaultsTo(DnsConfig.Prefer.IPV4)
            .atsName("proxy.config.hostdb.ip_resolve")
            .description("Address family that is tried first; the addresses of a host are tried in alternating"
                    + " families.");
    public static final ConfigKey<Duration> QUERY_TIMEOUT = ConfigKey.builder("dns.query_timeout", ValueType.DURATION)
            .within(Duration.ofMillis(50), Duration.ofMinutes(1))
            .defaultsTo(Duration.ofSeconds(2))
            .atsName("proxy.config.dns.lookup_timeout")
            .description("Time after which a query without an answer is sent to the next name server.");
    public static final ConfigKey<Duration> TTL_MIN = ConfigKey.builder("dns.ttl_min", ValueType.DURATION)
            .within(Duration.ofSeconds(1), Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(1))
            .atsName("proxy.config.hostdb.ttl_mode")
            .description("Shortest time for which an answer is used, whatever its TTL.");
    public static final ConfigKey<Duration> TTL_MAX = ConfigKey.builder("dns.ttl_max", ValueType.DURATION)
            .within(Duration.ofSeconds(1), Duration.ofDays(30))
            .defaultsTo(Duration.ofDays(1))
            .atsName("proxy.config.hostdb.ttl_mode, proxy.config.hostdb.timeout")
            .description("Longest time for which an answer is used, whatever its TTL.");
    public static final ConfigKey<Duration> NEGATIVE_TTL = ConfigKey.builder("dns.negative_ttl", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(5))
            .atsName("proxy.config.hostdb.fail.timeout")
            .description("How long a negative answer is cached: the name does not exist or has no address.");
    public static final ConfigKey<Duration> SERVE_STALE_FOR = ConfigKey.builder(
                    "dns.serve_stale_for", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofDays(30))
            .defaultsTo(Duration.ofDays(1))
            .atsName("proxy.config.hostdb.serve_stale_for")
            .description("Time for which an expired answer is used if no name server answers; 0 turns this off.");
    public static final ConfigKey<Duration> DOWN_TIME = ConfigKey.builder("dns.down_time", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(60))
            .atsName("proxy.config.http.down_server.cache_time")
            .description("Time for which an address is tried only after the other addresses of its host, because a"
                    + " connection to it failed or was slower than to another.");
    public static final ConfigKey<Integer> HOSTS_MAX = ConfigKey.builder("dns.hosts_max", ValueType.INTEGER)
            .within(16, 10_000_000)
            .defaultsTo(10_000)
            .atsName("proxy.config.hostdb.max_count")
            .description("Maximum number of hosts in the DNS cache of one event loop; the least recently used are"
                    + " removed first.");
    public static final ConfigKey<Integer> IN_FLIGHT_MAX = ConfigKey.builder("dns.in_flight_max", ValueType.INTEGER)
            .within(1, 100_000)
            .defaultsTo(2048)
            .atsName("proxy.config.dns.max_dns_in_flight")
            .description("Concurrent DNS lookups of one event loop; requests that need more are answered with 502.");

    private DnsKeys() {}
}
