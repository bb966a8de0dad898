package io.millrace.proxy.config.origins;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.RuleUrl;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Configuration keys for origin groups: several hosts for one rule. */
public final class OriginGroupKeys {
    private static final Duration DAY = Duration.ofDays(1);

    public static final ConfigKey<List<ConfigValues>> ORIGINS = ConfigKey.builder("origins", ValueType.LIST)
            .atsName("strategies.yaml, parent.config")
            .description(
                    "Groups of hosts that answer for the same URLs; a rule of remap names one, see docs/guide/origins.md.");
    public static final ConfigKey<String> NAME = ConfigKey.builder("origins[].name", ValueType.STRING)
            .required()
            .atsName("strategy")
            .description("Name of the group for rules, metrics and millctl: lower-case letters, digits, '-' and '_'.");
    public static final ConfigKey<OriginGroupConfig.Policy> POLICY = ConfigKey.builder(
                    "origins[].policy",
                    ValueType.word(
                            OriginGroupConfig.Policy.class,
                            Map.of(
                                    "rr_strict",
                                    OriginGroupConfig.Policy.ROUND_ROBIN,
                                    "rr_ip",
                                    OriginGroupConfig.Policy.STICKY)))
            .defaultsTo(OriginGroupConfig.Policy.ROUND_ROBIN)
            .atsName("policy, round_robin")
            .description("Choice of the host for a request. round_robin: all in turn by weight. least_loaded: the"
                    + " fewest requests in progress for its weight. consistent_hash: by the hash of hash_key."
                    + " first_live: the first that is up. sticky: by the client's address. latched: the host of the"
                    + " last request, until it fails.");
    public static final ConfigKey<OriginGroupConfig.HashKey> HASH_KEY = ConfigKey.builder(
                    "origins[].hash_key",
                    ValueType.word(
                            OriginGroupConfig.HashKey.class,
                            Map.of(
                                    "path+query",
                                    OriginGroupConfig.HashKey.PATH_QUERY,
                                    "hostname",
                                    OriginGroupConfig.HashKey.HOST)))
            .defaultsTo(OriginGroupConfig.HashKey.PATH)
            .atsName("hash_key, qstring")
            .description(
                    "For consistent_hash: the part of the client's URL that is hashed, or the cache key; no host gets"
                            + " more than 1.25 times its share of the requests in progress.");
    public static final ConfigKey<OriginGroupConfig.RingMode> RING_MODE = ConfigKey.builder(
                    "origins[].ring_mode", ValueType.word(OriginGroupConfig.RingMode.class, false))
            .defaultsTo(OriginGroupConfig.RingMode.EXHAUST_RING)
            .atsName("ring_mode, secondary_mode")
            .description(
                    "Use of backups. exhaust_ring: when no other host is up. alternate_ring: when the URL's own host"
                            + " does not answer. peering_ring: as upstream servers; the other hosts are this proxy"
                            + " and its siblings. A sibling sends a request to the owner of the URL, and the owner"
                            + " sends it to a backup or to the rule's own origin. All but exhaust_ring need"
                            + " consistent_hash.");
    public static final ConfigKey<List<ConfigValues>> HOSTS = ConfigKey.builder("origins[].hosts", ValueType.LIST)
            .atsName("hosts, parent, secondary_parent")
            .description(
                    "The hosts; an element is a URL, or a section with url and its settings. Required without hosts_from.");
    public static final ConfigKey<String> FLEET_TIER = ConfigKey.builder(
                    "origins[].hosts_from.fleet_tier", ValueType.STRING)
            .description("Tier of the fleet whose live nodes with a fleet.address are hosts of the group, in addition"
                    + " to hosts. This node itself is no host, except with peering_ring.");
    public static final ConfigKey<RuleUrl> HOST_URL = ConfigKey.builder("origins[].hosts[].url", ValueType.ORIGIN)
            .required()
            .description(
                    "URL to connect to, without a path; the path and the Host field are those of" + " remap[].to.");
    public static final ConfigKey<Integer> HOST_WEIGHT = ConfigKey.builder(
                    "origins[].hosts[].weight", ValueType.INTEGER)
            .within(1, 1000)
            .defaultsTo(1)
            .atsName("weight")
            .description("Share of the requests, relative to the weights of the other hosts.");
    public static final ConfigKey<Boolean> HOST_BACKUP = ConfigKey.builder(
                    "origins[].hosts[].backup", ValueType.BOOLEAN)
            .defaultsTo(false)
            .atsName("secondary_parent")
            .description("Whether the host gets requests only while no other host is up; ring_mode can change this.");
    public static final ConfigKey<Boolean> HOST_SELF = ConfigKey.builder("origins[].hosts[].self", ValueType.BOOLEAN)
            .atsName("self, proxy.config.http.parent_proxy.self_detect")
            .description(
                    "Whether the host is this proxy itself, which gets no requests. By default this is so if the port"
                            + " is one of listen, and the host is an address of this machine or its name.");
    public static final ConfigKey<Path> HOST_UNIX_SOCKET = ConfigKey.builder(
                    "origins[].hosts[].unix_socket", ValueType.PATH)
            .description(
                    "Unix domain socket on which the host listens, instead of the host and port of url. Logs, metrics"
                            + " and millctl still show the host as url.");
    public static final ConfigKey<Integer> CONNECTIONS_MAX = ConfigKey.builder(
                    "origins[].connections_max", ValueType.INTEGER)
            .within(1, 1_000_000)
            .atsName("proxy.config.http.per_server.connection.max")
            .description("As origin.connections_max, for each host of the group; the default is that key.");
    public static final ConfigKey<Integer> QUEUE_MAX = ConfigKey.builder("origins[].queue_max", ValueType.INTEGER)
            .within(0, 1_000_000)
            .description("As origin.queue_max, for each host of the group; the default is that key.");
    public static final ConfigKey<Boolean> PARENT_IS_PROXY = ConfigKey.builder(
                    "origins[].parent_is_proxy", ValueType.BOOLEAN)
            .defaultsTo(false)
            .atsName("parent_is_proxy")
            .description(
                    "Whether the hosts are proxies, which get requests with the whole URL of the rule's origin, not"
                            + " only its path.");
    public static final ConfigKey<Boolean> GO_DIRECT = ConfigKey.builder("origins[].go_direct", ValueType.BOOLEAN)
            .defaultsTo(false)
            .atsName("go_direct")
            .description("Whether the rule's own origin (the host of remap[].to) is used when no host of the group is"
                    + " available.");
    public static final ConfigKey<OriginGroupConfig.WhenAllDown> WHEN_ALL_DOWN = ConfigKey.builder(
                    "origins[].when_all_down", ValueType.word(OriginGroupConfig.WhenAllDown.class, false))
            .defaultsTo(OriginGroupConfig.WhenAllDown.TRY)
            .description(
                    "Behaviour when every host is marked down: try them anyway, or fail at once with 503. Hosts that"
                            + " an operator has put down are never tried.");
    public static final ConfigKey<Duration> SLOW_START = ConfigKey.builder("origins[].slow_start", ValueType.DURATION)
            .within(Duration.ofMillis(100), Duration.ofHours(1))
            .orZero()
            .defaultsTo(Duration.ZERO)
            .description(
                    "Time in which the weight of a recovered host grows from a tenth to its full value; 0 restores it"
                            + " at once.");

    public static final ConfigKey<Integer> RETRY_TRIES = ConfigKey.builder("origins[].retry.tries", ValueType.INTEGER)
            .within(1, 16)
            .defaultsTo(3)
            .atsName(
                    "max_simple_retries, max_unavailable_retries, proxy.config.http.parent_proxy.total_connect_attempts")
            .description(
                    "Attempts for one request, including the first: each host once, then again hosts that are up but"
                            + " gave no answer. With 1 no other host is tried.");
    public static final ConfigKey<List<String>> RETRY_RESPONSE_CODES = ConfigKey.builder(
                    "origins[].retry.response_codes", ValueType.STATUSES)
            .defaultsTo(List.of("502", "503", "504"))
            .atsName("response_codes, simple_server_retry_responses")
            .description(
                    "Status codes after which another host is tried, for idempotent methods without content; the last"
                            + " response is passed on.");
    public static final ConfigKey<Duration> RETRY_WITHIN = ConfigKey.builder(
                    "origins[].retry.within", ValueType.DURATION)
            .within(Duration.ofMillis(10), Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(30))
            .description("Time after the first attempt of a request; no other attempt begins later.");

    public static final ConfigKey<Integer> FAIL_THRESHOLD = ConfigKey.builder(
                    "origins[].markdown.fail_threshold", ValueType.INTEGER)
            .within(1, 1000)
            .orZero()
            .defaultsTo(3)
            .atsName("proxy.config.http.parent_proxy.fail_threshold")
            .description("Failures in a row after which a host is marked down; 0 marks none.");
    public static final ConfigKey<Duration> RETRY_TIME = ConfigKey.builder(
                    "origins[].markdown.retry_time", ValueType.DURATION)
            .within(Duration.ofMillis(100), DAY)
            .defaultsTo(Duration.ofSeconds(10))
            .atsName("proxy.config.http.parent_proxy.retry_time")
            .description(
                    "Time after which a host that is marked down gets one request on trial; it doubles with each trial that"
                            + " fails.");
    public static final ConfigKey<Duration> RETRY_TIME_MAX = ConfigKey.builder(
                    "origins[].markdown.retry_time_max", ValueType.DURATION)
            .within(Duration.ofMillis(100), DAY)
            .defaultsTo(Duration.ofMinutes(5))
            .description("Upper bound of retry_time, which doubles with each failed trial.");
    public static final ConfigKey<List<String>> MARKDOWN_CODES = ConfigKey.builder(
                    "origins[].markdown.codes", ValueType.STATUSES)
            .defaultsTo(List.of("503"))
            .atsName("markdown_codes, unavailable_server_retry_responses")
            .description(
                    "Status codes that count as a failure of the host, in addition to connections that fail or break"
                            + " off.");

    public static final ConfigKey<String> HEALTH_PATH = ConfigKey.builder(
                    "origins[].health_check.path", ValueType.PATH_PREFIX)
            .atsName("health_check_url")
            .description(
                    "Path of the health check of each host; without this key there are no checks. Hosts with health"
                            + " checks get no trial requests from clients.");
    public static final ConfigKey<String> HEALTH_HOST = ConfigKey.builder("origins[].health_check.host", ValueType.HOST)
            .description("Host field of checks and expected name in certificates; the default is the host's own name.");
    public static final ConfigKey<Duration> HEALTH_INTERVAL = ConfigKey.builder(
                    "origins[].health_check.interval", ValueType.DURATION)
            .within(Duration.ofMillis(100), Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(5))
            .description("Time from one check of a host to the next, with 10% of random variation.");
    public static final ConfigKey<Duration> HEALTH_TIMEOUT = ConfigKey.builder(
                    "origins[].health_check.timeout", ValueType.DURATION)
            .within(Duration.ofMillis(10), Duration.ofMinutes(5))
            .defaultsTo(Duration.ofSeconds(2))
            .description("How long a check may take to connect, and then to be answered.");
    public static final ConfigKey<Integer> HEALTHY = ConfigKey.builder(
                    "origins[].health_check.healthy", ValueType.INTEGER)
            .within(1, 100)
            .defaultsTo(2)
            .description("Checks in a row that a host must pass to be up again.");
    public static final ConfigKey<Integer> UNHEALTHY = ConfigKey.builder(
                    "origins[].health_check.unhealthy", ValueType.INTEGER)
            .within(1, 100)
            .defaultsTo(3)
            .description("Checks in a row that a host must fail to be marked down.");
    public static final ConfigKey<List<String>> HEALTH_STATUS = ConfigKey.builder(
                    "origins[].health_check.status", ValueType.STATUSES)
            .defaultsTo(List.of("200"))
            .description("Status codes that pass a check.");

    private OriginGroupKeys() {}
}
