package io.millrace.proxy.dns;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The settings of name resolution. Immutable.
 *
 * @param nameServers name servers, queried in order until one responds; empty for those of the system
 * @param zones domains with their own name servers
 * @param hosts fixed addresses of hosts, by lower-case name, which replace DNS queries
 * @param prefersIpv6 whether IPv6 addresses are tried before IPv4 addresses
 * @param queryTimeoutNanos timeout of one query to one name server
 * @param ttlMinNanos minimum time to live of an answer
 * @param ttlMaxNanos maximum time to live of an answer
 * @param negativeTtlNanos time to live of a negative answer
 * @param staleMaxNanos time after its expiry in which an answer may be used while no name server responds; 0 for none
 * @param downNanos time for which an address is tried only after the others of its host, because a connection failed
 * @param hostsMax limit of cached hosts per event loop
 * @param queriesMax limit of concurrently queried hosts per event loop
 * @param services whether SRV records are queried
 */
public record DnsSettings(
        List<InetSocketAddress> nameServers,
        List<Zone> zones,
        Map<String, List<InetAddress>> hosts,
        boolean prefersIpv6,
        long queryTimeoutNanos,
        long ttlMinNanos,
        long ttlMaxNanos,
        long negativeTtlNanos,
        long staleMaxNanos,
        long downNanos,
        int hostsMax,
        int queriesMax,
        boolean services) {

    /**
     * A domain with its own name servers, including all names below it. Immutable.
     *
     * @param domain domain in lower case, without a leading or trailing dot
     * @param nameServers name servers, at least one
     */
    public record Zone(String domain, List<InetSocketAddress> nameServers) {}

    /** The default settings: the system's name servers, no hosts file, IPv4 first. */
    public static final DnsSettings DEFAULTS = new DnsSettings(
            List.of(),
            List.of(),
            Map.of(),
            false,
            TimeUnit.SECONDS.toNanos(2),
            TimeUnit.SECONDS.toNanos(1),
            TimeUnit.DAYS.toNanos(1),
            TimeUnit.SECONDS.toNanos(5),
            TimeUnit.DAYS.toNanos(1),
            TimeUnit.SECONDS.toNanos(60),
            10_000,
            2_048,
            false);
}
