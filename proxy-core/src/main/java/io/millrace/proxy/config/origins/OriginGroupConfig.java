package io.millrace.proxy.config.origins;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.tls.OriginTlsKeys;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.config.value.SourceAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A group of hosts that serve the same URLs. Immutable.
 *
 * @param name lower-case letters, digits, {@code -} and {@code _}
 * @param policy selection of the host for a request
 * @param hashKey input of the hash for {@link Policy#CONSISTENT_HASH}
 * @param ringMode use of backup hosts
 * @param hosts in the order of the file; may be empty only if {@code fleetTier} is set
 * @param fleetTier tier of the fleet whose nodes are further hosts; null for none
 * @param connectionsMax limit of connections to each host on each event loop; null for the general setting
 * @param connectionsTotalMax limit of connections to each host on all event loops, 0 for none; null for the general
 *     setting
 * @param tunnelsMax limit of tunnels to each host on each event loop; null for the general setting
 * @param queueMax limit of requests that wait for a connection to a host; null for the general setting
 * @param parentIsProxy whether the hosts are proxies, so that requests have absolute URLs
 * @param goDirect whether the rule's own origin is used if no host of the group is available
 * @param whenAllDown treatment of requests while all hosts are down
 * @param slowStartMillis time in which the weight of a host grows to its full value after it was down; 0 for at once
 * @param retry when another host is tried
 * @param markdown when a host is marked down
 * @param tls TLS settings of the group, completed by the general ones
 * @param ownTls whether the group has TLS settings, which then override those of the rule
 * @param sourceAddress local addresses of connections to the hosts; null for the setting of the rule
 * @param checkSourceAddress local addresses of health checks, which belong to no rule
 * @param http2 use of HTTP/2 with the hosts; null for the setting of the rule
 * @param checkHttp2 use of HTTP/2 for health checks, which belong to no rule
 * @param healthCheck settings of health checks; null for none
 */
public record OriginGroupConfig(
        String name,
        Policy policy,
        HashKey hashKey,
        RingMode ringMode,
        List<Host> hosts,
        @Nullable String fleetTier,
        @Nullable Integer connectionsMax,
        @Nullable Integer connectionsTotalMax,
        @Nullable Integer tunnelsMax,
        @Nullable Integer queueMax,
        boolean parentIsProxy,
        boolean goDirect,
        WhenAllDown whenAllDown,
        long slowStartMillis,
        Retry retry,
        Markdown markdown,
        OriginTlsConfig tls,
        boolean ownTls,
        @Nullable SourceAddress sourceAddress,
        SourceAddress checkSourceAddress,
        OriginConfig.@Nullable Http2 http2,
        OriginConfig.Http2 checkHttp2,
        @Nullable HealthCheck healthCheck) {

    /** Selection of the host for a request. */
    public enum Policy {
        /** All hosts in turn, by weight. */
        ROUND_ROBIN,
        /** The host with the fewest requests in progress relative to its weight. */
        LEAST_LOADED,
        /**
         * A host by the hash of the URL or the cache key. If a host is added or removed, no request moves between
         * the other hosts.
         */
        CONSISTENT_HASH,
        /** The first live host in the order of the file. */
        FIRST_LIVE,
        /** A fixed host for each client address. */
        STICKY,
        /** The host of the previous request, while it is live. */
        LATCHED
    }

    /** The part of a request that is hashed to select its host. */
    public enum HashKey {
        /** The path of the client's URL. */
        PATH,
        /** The path and the query. */
        PATH_QUERY,
        /** The whole URL. */
        URL,
        /** The host of the URL. */
        HOST,
        /** The cache key. */
        CACHE_KEY
    }

    /** Use of backup hosts. */
    public enum RingMode {
        /** Backups are used if all other hosts are down. */
        EXHAUST_RING,
        /** If the primary host of a URL does not answer, a backup is tried. Further tries alternate between both. */
        ALTERNATE_RING,
        /**
         * The hosts that are not backups are sibling proxies, including this proxy. Each proxy sends requests for its
         * own URLs to the backups, and other requests to the sibling that owns the URL.
         */
        PEERING_RING
    }

    /** Treatment of requests while no host is up. */
    public enum WhenAllDown {
        /** Requests are sent to hosts that are marked down. */
        TRY,
        /** Requests are answered with 503. */
        FAIL
    }

    /**
     * A host of the group.
     *
     * @param url scheme, host and port
     * @param weight 1 to 1000
     * @param backup whether the host is a backup for the other hosts
     * @param self whether the host is this proxy; null to detect it
     * @param unixSocket Unix domain socket to which connections are made; null for TCP
     */
    public record Host(
            RuleUrl url,
            int weight,
            boolean backup,
            @Nullable Boolean self,
            @Nullable Path unixSocket) {}

    /**
     * Limits of the attempts to send one request to several hosts, and their condition.
     *
     * @param tries limit of attempts for one request, 1 or more
     * @param responseCodes status codes after which another host is tried
     * @param withinMillis time from the first attempt after which no other is started
     */
    public record Retry(int tries, List<Integer> responseCodes, long withinMillis) {}

    /**
     * Conditions under which a host is marked down, and the times of its trial requests.
     *
     * @param failThreshold consecutive failures; 0 for never
     * @param retryMillis time until the first trial request
     * @param retryMillisMax longest time until a trial request
     * @param codes status codes that count as failures
     */
    public record Markdown(int failThreshold, long retryMillis, long retryMillisMax, List<Integer> codes) {}

    /**
     * Settings of the health checks of the hosts.
     *
     * @param path path of the request
     * @param host Host field of the request; null for the name of the host
     * @param intervalMillis interval of the checks
     * @param timeoutMillis time limit of a check
     * @param healthy consecutive passed checks until a host is up
     * @param unhealthy consecutive failed checks until a host is down
     * @param statuses status codes with which a check passes
     */
    public record HealthCheck(
            String path,
            @Nullable String host,
            long intervalMillis,
            long timeoutMillis,
            int healthy,
            int unhealthy,
            List<Integer> statuses) {}

    private static @Nullable HealthCheck healthCheck(ConfigValues element) {
        String path = element.find(OriginGroupKeys.HEALTH_PATH);
        return path == null
                ? null
                : new HealthCheck(
                        path,
                        element.find(OriginGroupKeys.HEALTH_HOST),
                        element.get(OriginGroupKeys.HEALTH_INTERVAL).toMillis(),
                        element.get(OriginGroupKeys.HEALTH_TIMEOUT).toMillis(),
                        element.get(OriginGroupKeys.HEALTHY),
                        element.get(OriginGroupKeys.UNHEALTHY),
                        codes(element.get(OriginGroupKeys.HEALTH_STATUS)));
    }

    public static OriginGroupConfig from(ConfigValues element, ConfigValues general) {
        List<Host> hosts = new ArrayList<>();
        for (ConfigValues host : element.elements(OriginGroupKeys.HOSTS)) {
            hosts.add(new Host(
                    host.get(OriginGroupKeys.HOST_URL),
                    host.get(OriginGroupKeys.HOST_WEIGHT),
                    host.get(OriginGroupKeys.HOST_BACKUP),
                    host.find(OriginGroupKeys.HOST_SELF),
                    host.find(OriginGroupKeys.HOST_UNIX_SOCKET)));
        }
        return new OriginGroupConfig(
                element.get(OriginGroupKeys.NAME),
                element.get(OriginGroupKeys.POLICY),
                element.get(OriginGroupKeys.HASH_KEY),
                element.get(OriginGroupKeys.RING_MODE),
                List.copyOf(hosts),
                element.find(OriginGroupKeys.FLEET_TIER),
                element.find(OriginGroupKeys.CONNECTIONS_MAX),
                element.find(OriginLimitKeys.GROUP_TOTAL),
                element.find(TunnelKeys.GROUP_MAX),
                element.find(OriginGroupKeys.QUEUE_MAX),
                element.get(OriginGroupKeys.PARENT_IS_PROXY),
                element.get(OriginGroupKeys.GO_DIRECT),
                element.get(OriginGroupKeys.WHEN_ALL_DOWN),
                element.get(OriginGroupKeys.SLOW_START).toMillis(),
                new Retry(
                        element.get(OriginGroupKeys.RETRY_TRIES),
                        codes(element.get(OriginGroupKeys.RETRY_RESPONSE_CODES)),
                        element.get(OriginGroupKeys.RETRY_WITHIN).toMillis()),
                new Markdown(
                        element.get(OriginGroupKeys.FAIL_THRESHOLD),
                        element.get(OriginGroupKeys.RETRY_TIME).toMillis(),
                        element.get(OriginGroupKeys.RETRY_TIME_MAX).toMillis(),
                        codes(element.get(OriginGroupKeys.MARKDOWN_CODES))),
                OriginTlsConfig.ofGroup(element, general),
                OriginTlsKeys.GROUP.all().stream().anyMatch(element::isSet),
                element.find(OriginLimitKeys.GROUP_SOURCE),
                element.isSet(OriginLimitKeys.GROUP_SOURCE)
                        ? element.get(OriginLimitKeys.GROUP_SOURCE)
                        : general.get(OriginLimitKeys.SOURCE),
                element.find(Http2Keys.GROUP),
                element.isSet(Http2Keys.GROUP) ? element.get(Http2Keys.GROUP) : general.get(Http2Keys.ORIGIN),
                healthCheck(element));
    }

    /** Returns these settings with other hosts. */
    public OriginGroupConfig withHosts(List<Host> others) {
        return new OriginGroupConfig(
                name,
                policy,
                hashKey,
                ringMode,
                List.copyOf(others),
                fleetTier,
                connectionsMax,
                connectionsTotalMax,
                tunnelsMax,
                queueMax,
                parentIsProxy,
                goDirect,
                whenAllDown,
                slowStartMillis,
                retry,
                markdown,
                tls,
                ownTls,
                sourceAddress,
                checkSourceAddress,
                http2,
                checkHttp2,
                healthCheck);
    }

    private static List<Integer> codes(List<String> words) {
        return words.stream().map(Integer::valueOf).toList();
    }
}
