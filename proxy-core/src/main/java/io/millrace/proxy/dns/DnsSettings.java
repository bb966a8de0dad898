package io.millrace.proxy.dns;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * How names become addresses. Immutable.
 *
 * @param nameServers whom to ask, the next one when one does not answer; empty for those that the system names
 * @param zones domains that have name servers of their own
 * @param hosts addresses of hosts, by lower-case name, for which nobody is asked
 * @param prefersIpv6 whether IPv6 addresses are tried before those of IPv4
 * @param queryTimeoutNanos how long one name server has for one query
 * @param ttlMinNanos shortest time that an answer is good for, whatever it says
 * @param ttlMaxNanos longest time that an answer is good for, whatever it says
 * @param negativeTtlNanos how long it is remembered that there is no such name
 * @param staleMaxNanos how long after its time an answer may be used while no name server answers; 0 for never
 * @param downNanos how long an address that could not be connected to is tried after all others
 * @param hostsMax hosts remembered by one event loop
 * @param queriesMax hosts asked for at the same time by one event loop
 * @param services whether service records are asked for
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
     * A domain with name servers of its own, names below it included. Immutable.
     *
     * @param domain in lower case, without a dot at either end
     * @param nameServers at least one
     */
    public record Zone(String domain, List<InetSocketAddress> nameServers) {}

    /** The system's name servers, no file of hosts, IPv4 first. */
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
