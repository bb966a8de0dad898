package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import java.util.List;

/** Configuration keys for request rate limits. */
public final class RequestLimitKeys {
    /** The limits of one remap rule. */
    public static final ConfigKey<List<ConfigValues>> OF_REMAP = ConfigKey.builder(
                    "remap[].request_limits", ValueType.LIST)
            .atsName("@plugin=rate_limit.so")
            .description("Limits for the requests of this remap rule, as in request_limits; they apply after those of"
                    + " request_limits.");

    public static final ConfigKey<List<ConfigValues>> LIMITS = ConfigKey.builder("request_limits", ValueType.LIST)
            .description("Limits of the rate of requests; see docs/guide/access.md. A request beyond a"
                    + " limit is answered with 429. At most 20 limits apply to one request.");
    public static final ConfigKey<String> NAME = ConfigKey.builder("request_limits[].name", ValueType.STRING)
            .description(
                    "Name of the limit, of letters, digits, '-', '_' and '.'; it is shown in logs, metrics, Cache-Status"
                            + " and the fields RateLimit and RateLimit-Policy.");
    public static final ConfigKey<String> WHEN = ConfigKey.builder("request_limits[].when", ValueType.STRING)
            .description("Condition on the request, such as path =~ \"^/api/\"; see docs/reference/expressions.md. A"
                    + " limit without it counts every request.");
    public static final ConfigKey<List<String>> KEY = ConfigKey.builder("request_limits[].key", ValueType.NAMES)
            .defaultsTo(List.of(RequestLimitConfig.CLIENT))
            .description("Requests with the same values of these parts are counted together: client (an IPv4 address,"
                    + " or the first 64 bits of an IPv6 address), host, request_header[\"NAME\"], cookie[\"NAME\"],"
                    + " param[\"NAME\"], or only the word all, for one count of all requests. A request without one of"
                    + " the values is not counted.");
    public static final ConfigKey<String> RATE = ConfigKey.builder("request_limits[].rate", ValueType.STRING)
            .description("Rate of requests: a number and /s, /m, /h or /d, such as 100/s; at most 1000000/s.");
    public static final ConfigKey<Integer> BURST = ConfigKey.builder("request_limits[].burst", ValueType.INTEGER)
            .within(1, 1_000_000)
            .description("Requests that may arrive at once after a pause. The default is the number in rate.");
    public static final ConfigKey<Boolean> DRY_RUN = ConfigKey.builder("request_limits[].dry_run", ValueType.BOOLEAN)
            .defaultsTo(false)
            .description("Whether requests beyond the limit are only counted in a metric, and not refused.");

    private RequestLimitKeys() {}
}
