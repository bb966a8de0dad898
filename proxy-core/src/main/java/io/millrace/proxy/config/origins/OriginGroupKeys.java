package io.millrace.proxy.config.origins;

import static io.millrace.proxy.config.key.ConfigKey.builder;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.RuleUrl;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The catalogue's entries for groups of origins: several hosts behind one rule. */
public final class OriginGroupKeys {
    private static final Duration DAY = Duration.ofDays(1);

    public static final ConfigKey<List<ConfigValues>> ORIGINS = builder("origins", ValueType.LIST)
            .atsName("strategies.yaml, parent.config")
            .description(
                    "Groups of hosts that answer for the same URLs; a rule of remap names one, see docs/guide/origins.md.");
    public static final ConfigKey<String> NAME = builder("origins[].name", ValueType.STRING)
            .required()
            .atsName("strategy")
            .description("Its name, by which rules, metrics and millctl know it: lower-case letters, digits, - and _.");
    public static final ConfigKey<OriginGroupConfig.Policy> POLICY = builder(
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
            .description(
                    "Who gets a request: all in turn by weight; the one with the fewest requests under way for its weight;"
                            + " one by the hash of hash_key; the first that is up; one by the client's address; or the one that"
                            + " had the last request, until it fails.");
    public static final ConfigKey<OriginGroupConfig.HashKey> HASH_KEY = builder(
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
                    "For consistent_hash: what of the client's URL decides, or the cache key; no host gets more than a"
                            + " quarter above its share of the requests under way.");
    public static final ConfigKey<OriginGroupConfig.RingMode> RING_MODE = builder(
                    "origins[].ring_mode", ValueType.word(OriginGroupConfig.RingMode.class, false))
            .defaultsTo(OriginGroupConfig.RingMode.EXHAUST_RING)
            .atsName("ring_mode, secondary_mode")
            .description(
                    "How backups stand to the others: asked when none of these is up; or, by consistent_hash, where a URL's own host"
                            + " does not answer; or, with peering_ring, the others are this proxy's siblings and itself: who owns a"
                            + " URL asks the backups, or the rule's to, and the siblings ask the owner.");
    public static final ConfigKey<List<ConfigValues>> HOSTS = builder("origins[].hosts", ValueType.LIST)
            .required()
            .atsName("hosts, parent, secondary_parent")
            .description("The hosts; an element is a URL, or a url with its settings.");
    public static final ConfigKey<RuleUrl> HOST_URL = builder("origins[].hosts[].url", ValueType.ORIGIN)
            .required()
            .description(
                    "Where connections go, without a path; the path and the Host field are those of the rule's to.");
    public static final ConfigKey<Integer> HOST_WEIGHT = builder("origins[].hosts[].weight", ValueType.INTEGER)
            .within(1, 1000)
            .defaultsTo(1)
            .atsName("weight")
            .description("Its share of the requests, against those of the others.");
    public static final ConfigKey<Boolean> HOST_BACKUP = builder("origins[].hosts[].backup", ValueType.BOOLEAN)
            .defaultsTo(false)
            .atsName("secondary_parent")
            .description("Whether it gets requests only while none of the others is up.");
    public static final ConfigKey<Boolean> HOST_SELF = builder("origins[].hosts[].self", ValueType.BOOLEAN)
            .atsName("self, proxy.config.http.parent_proxy.self_detect")
            .description(
                    "Whether the host is this proxy itself, which is never asked; without the key it is where its address, or this"
                            + " machine's name, and its port are those of listen.");
    public static final ConfigKey<Integer> CONNECTIONS_MAX = builder("origins[].connections_max", ValueType.INTEGER)
            .within(1, 1_000_000)
            .atsName("proxy.config.http.per_server.connection.max")
            .description("As origin.connections_max, for each host of the group; without it that one holds.");
    public static final ConfigKey<Integer> QUEUE_MAX = builder("origins[].queue_max", ValueType.INTEGER)
            .within(0, 1_000_000)
            .description("As origin.queue_max, for each host of the group; without it that one holds.");
    public static final ConfigKey<Boolean> PARENT_IS_PROXY = builder("origins[].parent_is_proxy", ValueType.BOOLEAN)
            .defaultsTo(false)
            .atsName("parent_is_proxy")
            .description(
                    "Whether the hosts are proxies: they are sent the whole URL of the rule's to, not its path alone.");
    public static final ConfigKey<Boolean> GO_DIRECT = builder("origins[].go_direct", ValueType.BOOLEAN)
            .defaultsTo(false)
            .atsName("go_direct")
            .description("Whether the host of the rule's to is asked itself when none of the group can be.");
    public static final ConfigKey<OriginGroupConfig.WhenAllDown> WHEN_ALL_DOWN = builder(
                    "origins[].when_all_down", ValueType.word(OriginGroupConfig.WhenAllDown.class, false))
            .defaultsTo(OriginGroupConfig.WhenAllDown.TRY)
            .description(
                    "When every host is marked down: try them all the same, or fail at once with 503. Hosts that an"
                            + " operator has put down are never tried.");
    public static final ConfigKey<Duration> SLOW_START = builder("origins[].slow_start", ValueType.DURATION)
            .within(Duration.ofMillis(100), Duration.ofHours(1))
            .orZero()
            .defaultsTo(Duration.ZERO)
            .description(
                    "Time in which the weight of a host that was down grows from a tenth to the whole; 0 gives it at once.");

    public static final ConfigKey<Integer> RETRY_TRIES = builder("origins[].retry.tries", ValueType.INTEGER)
            .within(1, 16)
            .defaultsTo(3)
            .atsName(
                    "max_simple_retries, max_unavailable_retries, proxy.config.http.parent_proxy.total_connect_attempts")
            .description("How often one request may be sent, the first time included: to each host once, then again"
                    + " to those that are up and gave no answer; 1 tries no other host.");
    public static final ConfigKey<List<String>> RETRY_RESPONSE_CODES = builder(
                    "origins[].retry.response_codes", ValueType.STATUSES)
            .defaultsTo(List.of("502", "503", "504"))
            .atsName("response_codes, simple_server_retry_responses")
            .description(
                    "Answers after which another host is tried, for idempotent methods without content; the last answer is"
                            + " passed on.");
    public static final ConfigKey<Duration> RETRY_WITHIN = builder("origins[].retry.within", ValueType.DURATION)
            .within(Duration.ofMillis(10), Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(30))
            .description("Time from a request's first try after which no other is begun.");

    public static final ConfigKey<Integer> FAIL_THRESHOLD = builder(
                    "origins[].markdown.fail_threshold", ValueType.INTEGER)
            .within(1, 1000)
            .orZero()
            .defaultsTo(3)
            .atsName("proxy.config.http.parent_proxy.fail_threshold")
            .description("Failures in a row after which a host is marked down; 0 marks none.");
    public static final ConfigKey<Duration> RETRY_TIME = builder("origins[].markdown.retry_time", ValueType.DURATION)
            .within(Duration.ofMillis(100), DAY)
            .defaultsTo(Duration.ofSeconds(10))
            .atsName("proxy.config.http.parent_proxy.retry_time")
            .description(
                    "Time after which a host that is marked down gets one request on trial; it doubles with each trial that"
                            + " fails.");
    public static final ConfigKey<Duration> RETRY_TIME_MAX = builder(
                    "origins[].markdown.retry_time_max", ValueType.DURATION)
            .within(Duration.ofMillis(100), DAY)
            .defaultsTo(Duration.ofMinutes(5))
            .description("The longest that retry_time becomes.");
    public static final ConfigKey<List<String>> MARKDOWN_CODES = builder("origins[].markdown.codes", ValueType.STATUSES)
            .defaultsTo(List.of("503"))
            .atsName("markdown_codes, unavailable_server_retry_responses")
            .description("Answers that count as a failure of the host, as do connections that fail or break off.");

    public static final ConfigKey<String> HEALTH_PATH = builder("origins[].health_check.path", ValueType.PATH_PREFIX)
            .atsName("health_check_url")
            .description(
                    "Path that each host is asked for at each interval; without it none is. Hosts that are checked get no"
                            + " requests on trial.");
    public static final ConfigKey<String> HEALTH_HOST = builder("origins[].health_check.host", ValueType.HOST)
            .description(
                    "What checks say in Host, and the name that certificates are held against; without it the host's own.");
    public static final ConfigKey<Duration> HEALTH_INTERVAL = builder(
                    "origins[].health_check.interval", ValueType.DURATION)
            .within(Duration.ofMillis(100), Duration.ofHours(1))
            .defaultsTo(Duration.ofSeconds(5))
            .description("Time from one check of a host to the next, a tenth more or less.");
    public static final ConfigKey<Duration> HEALTH_TIMEOUT = builder(
                    "origins[].health_check.timeout", ValueType.DURATION)
            .within(Duration.ofMillis(10), Duration.ofMinutes(5))
            .defaultsTo(Duration.ofSeconds(2))
            .description("How long a check may take to connect, and then to be answered.");
    public static final ConfigKey<Integer> HEALTHY = builder("origins[].health_check.healthy", ValueType.INTEGER)
            .within(1, 100)
            .defaultsTo(2)
            .description("Checks in a row that a host must pass to be up again.");
    public static final ConfigKey<Integer> UNHEALTHY = builder("origins[].health_check.unhealthy", ValueType.INTEGER)
            .within(1, 100)
            .defaultsTo(3)
            .description("Checks in a row that a host must fail to be marked down.");
    public static final ConfigKey<List<String>> HEALTH_STATUS = builder(
                    "origins[].health_check.status", ValueType.STATUSES)
            .defaultsTo(List.of("200"))
            .description("Answers by which a check is passed.");

    private OriginGroupKeys() {}
}
