package io.millrace.proxy.config.dns;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.ListenAddress;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the name resolution of origins. Immutable.
 *
 * @param nameServers name servers; empty for those of the system
 * @param zones domains with separate name servers
 * @param hostsFile hosts file; null for the file of the system, if it exists
 * @param prefer address family that is tried first
 * @param queryTimeoutNanos time limit of a query to one name server
 * @param ttlMinNanos minimum lifetime of an answer
 * @param ttlMaxNanos maximum lifetime of an answer
 * @param negativeTtlNanos lifetime of a negative answer: the name does not exist or has no address
 * @param staleMaxNanos how long an expired answer may be used
 * @param downNanos how long an address is tried only after the others of its host, because a connection failed
 * @param hostsMax limit of cached hosts
 * @param inFlightMax limit of hosts that are resolved at the same time
 * @param srv whether SRV records are looked up for origins without a port
 */
public record DnsConfig(
        List<InetSocketAddress> nameServers,
        List<Zone> zones,
        @Nullable Path hostsFile,
        Prefer prefer,
        long queryTimeoutNanos,
        long ttlMinNanos,
        long ttlMaxNanos,
        long negativeTtlNanos,
        long staleMaxNanos,
        long downNanos,
        int hostsMax,
        int inFlightMax,
        boolean srv) {
    private static final int DNS_PORT = 53;

    /** The address family that is tried first. */
    public enum Prefer {
        IPV4,
        IPV6
    }

    /**
     * The name servers of a domain. Immutable.
     *
     * @param domain in lower case, without a leading or trailing dot
     * @param nameServers at least one
     */
    public record Zone(String domain, List<InetSocketAddress> nameServers) {}

    public static DnsConfig from(ConfigValues values) {
        try {
            List<Zone> zones = new ArrayList<>();
            for (ConfigValues element : values.elements(DnsKeys.SPLIT)) {
                List<InetSocketAddress> own = servers(element.get(DnsKeys.SPLIT_NAME_SERVERS));
                for (String domain : element.get(DnsKeys.SPLIT_DOMAINS)) {
                    zones.add(new Zone(domain(domain), own));
                }
            }
            List<String> general = values.find(DnsKeys.NAME_SERVERS);
            return new DnsConfig(
                    general == null ? List.of() : servers(general),
                    List.copyOf(zones),
                    values.find(DnsKeys.HOSTS_FILE),
                    values.get(DnsKeys.PREFER),
                    values.get(DnsKeys.QUERY_TIMEOUT).toNanos(),
                    values.get(DnsKeys.TTL_MIN).toNanos(),
                    values.get(DnsKeys.TTL_MAX).toNanos(),
                    values.get(DnsKeys.NEGATIVE_TTL).toNanos(),
                    values.get(DnsKeys.SERVE_STALE_FOR).toNanos(),
                    values.get(DnsKeys.DOWN_TIME).toNanos(),
                    values.get(DnsKeys.HOSTS_MAX),
                    values.get(DnsKeys.IN_FLIGHT_MAX),
                    values.get(DnsKeys.SRV));
        } catch (InvalidValueException e) {
            throw new IllegalArgumentException("dns: " + e.problem(), e);
        }
    }

    /** Parses addresses of name servers, each optionally with a port. An IPv6 address with a port is in brackets. */
    public static List<InetSocketAddress> servers(List<String> texts) throws InvalidValueException {
        List<InetSocketAddress> servers = new ArrayList<>();
        for (String text : texts) {
            servers.add(server(text));
        }
        return List.copyOf(servers);
    }

    private static InetSocketAddress server(String text) throws InvalidValueException {
        boolean bracketed = text.startsWith("[");
        boolean hasPort = bracketed ? !text.endsWith("]") : text.indexOf('.') >= 0 && text.indexOf(':') >= 0;
        boolean isIpv6 = !bracketed && NetUtil.isValidIpV6Address(text);
        String withPort = isIpv6 ? "[" + text + "]:" + DNS_PORT : hasPort ? text : text + ":" + DNS_PORT;
        ListenAddress address;
        try {
            address = ListenAddress.parse(withPort);
        } catch (InvalidValueException e) {
            throw new InvalidValueException(
                    "'" + text + "' is not the address of a name server such as 192.0.2.53 or [2001:db8::53]:5353");
        }
        InetAddress ip = address.ip() == null ? null : NetUtil.createInetAddressFromIpAddressString(address.ip());
        if (ip == null || address.port() == 0) {
            throw new InvalidValueException("'" + text + "' has no valid " + (ip == null ? "address" : "port"));
        }
        return new InetSocketAddress(ip, address.port());
    }

    /** Normalizes a domain for comparisons: lower case, without a leading or trailing dot. */
    public static String domain(String text) throws InvalidValueException {
        String domain = text.toLowerCase(Locale.ROOT);
        domain = domain.startsWith(".") ? domain.substring(1) : domain;
        domain = domain.endsWith(".") ? domain.substring(0, domain.length() - 1) : domain;
        boolean isValid = !domain.isEmpty() && !domain.contains("..");
        for (int i = 0; i < domain.length(); i++) {
            char c = domain.charAt(i);
            isValid &= (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        }
        if (!isValid) {
            throw new InvalidValueException("'" + text + "' is not a domain such as corp.example.com");
        }
        return domain;
    }
}
