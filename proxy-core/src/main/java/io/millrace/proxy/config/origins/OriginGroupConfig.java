package io.millrace.proxy.config.origins;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.tls.OriginTlsKeys;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A group of hosts that answer for the same URLs. Immutable.
 *
 * @param name lower-case letters, digits, {@code -} and {@code _}
 * @param policy who gets a request
 * @param hashKey what decides by {@link Policy#CONSISTENT_HASH}
 * @param ringMode how backups stand to the others
 * @param hosts in the order of the file, at least one
 * @param connectionsMax most connections to each host on each event loop; null for the general setting
 * @param tunnelsMax most tunnels to each host on each event loop; null for the general setting
 * @param queueMax most requests that wait for one of them; null for the general setting
 * @param parentIsProxy whether the hosts are sent whole URLs
 * @param goDirect whether the rule's own origin is asked when none of the hosts can be
 * @param whenAllDown what becomes of requests then
 * @param slowStartMillis time in which the weight of a host that was down grows to the whole; 0 for at once
 * @param retry when another host is tried
 * @param markdown when a host is marked down
 * @param tls its TLS settings over the general ones
 * @param ownTls whether it has TLS settings, which then go before those of the rule
 * @param http2 whether HTTP/2 is spoken with its hosts; null for what the rule says
 * @param checkHttp2 the same for health checks, which belong to no rule
 * @param healthCheck how hosts are asked whether they are up; null for not at all
 */
public record OriginGroupConfig(
        String name,
        Policy policy,
        HashKey hashKey,
        RingMode ringMode,
        List<Host> hosts,
        @Nullable Integer connectionsMax,
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
        OriginConfig.@Nullable Http2 http2,
        OriginConfig.Http2 checkHttp2,
        @Nullable HealthCheck healthCheck) {

    /** Who gets a request. */
    public enum Policy {
        /** All in turn, by weight. */
        ROUND_ROBIN,
        /** The one with the fewest requests under way for its weight. */
        LEAST_LOADED,
        /** By the hash of the URL or the key; a host that goes or comes moves no request between the others. */
        CONSISTENT_HASH,
        /** The first in the order of the file. */
        FIRST_LIVE,
        /** By the client's address. */
        STICKY,
        /** The one that had the last request. */
        LATCHED
    }

    /** What is hashed. */
    public enum HashKey {
        PATH,
        PATH_QUERY,
        URL,
        HOST,
        CACHE_KEY
    }

    /** How backups stand to the others. */
    public enum RingMode {
        /** They are asked when none of the others is up. */
        EXHAUST_RING,
        /** One is asked where the URL's own host among the others does not answer, and then both in turn. */
        ALTERNATE_RING,
        /** The others are this proxy's siblings, and it among them: each asks the backups for what is its own, and its siblings for theirs. */
        PEERING_RING
    }

    /** What becomes of requests while no host is up. */
    public enum WhenAllDown {
        TRY,
        FAIL
    }

    /**
     * One host.
     *
     * @param url scheme, host and port
     * @param weight 1 to 1000
     * @param backup whether it is for when none of the others is up
     * @param self whether it is this proxy itself; null where that is to be found out
     */
    public record Host(
            RuleUrl url,
            int weight,
            boolean backup,
            @Nullable Boolean self) {}

    /**
     * When another host is tried.
     *
     * @param tries how often one request may be sent, 1 or more
     * @param responseCodes answers after which another is tried
     * @param withinMillis time from the first try after which no other is begun
     */
    public record Retry(int tries, List<Integer> responseCodes, long withinMillis) {}

    /**
     * When a host is marked down.
     *
     * @param failThreshold failures in a row; 0 for never
     * @param retryMillis time until the first trial
     * @param retryMillisMax longest time until one
     * @param codes answers that are failures
     */
    public record Markdown(int failThreshold, long retryMillis, long retryMillisMax, List<Integer> codes) {}

    /**
     * How hosts are asked whether they are up.
     *
     * @param path of the request
     * @param host what it says in Host; null for the host's own
     * @param intervalMillis from one check to the next
     * @param timeoutMillis how long one may take
     * @param healthy passed in a row to be up
     * @param unhealthy failed in a row to be down
     * @param statuses that pass
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
                    host.find(OriginGroupKeys.HOST_SELF)));
        }
        return new OriginGroupConfig(
                element.get(OriginGroupKeys.NAME),
                element.get(OriginGroupKeys.POLICY),
                element.get(OriginGroupKeys.HASH_KEY),
                element.get(OriginGroupKeys.RING_MODE),
                List.copyOf(hosts),
                element.find(OriginGroupKeys.CONNECTIONS_MAX),
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
                element.find(Http2Keys.GROUP),
                element.isSet(Http2Keys.GROUP) ? element.get(Http2Keys.GROUP) : general.get(Http2Keys.ORIGIN),
                healthCheck(element));
    }

    private static List<Integer> codes(List<String> words) {
        return words.stream().map(Integer::valueOf).toList();
    }
}
