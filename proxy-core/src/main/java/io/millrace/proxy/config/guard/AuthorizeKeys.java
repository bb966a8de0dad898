package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.config.key.ValueType;
import java.time.Duration;
import java.util.List;

/** Configuration keys for decisions of an authorisation server. Remap rules can override all of them. */
public final class AuthorizeKeys {
    public static final ConfigKey<Boolean> ENABLED = ConfigKey.builder("authorize.enabled", ValueType.BOOLEAN)
            .defaultsTo(true)
            .perRule()
            .description("Whether a server decides about requests, if authorize.url is set.");
    public static final ConfigKey<String> URL = ConfigKey.builder("authorize.url", ValueType.STRING)
            .perRule()
            .description("URL of the authorisation server, http or https. Each request that passes the other checks"
                    + " is preceded by a request to this URL, without content. A 2xx response allows it.");
    public static final ConfigKey<AuthorizeConfig.SentMethod> METHOD = ConfigKey.builder(
                    "authorize.method", ValueType.word(AuthorizeConfig.SentMethod.class, false))
            .defaultsTo(AuthorizeConfig.SentMethod.GET)
            .perRule()
            .description("Method of the requests to the authorisation server.");
    public static final ConfigKey<List<String>> SEND_FIELDS = ConfigKey.builder(
                    "authorize.send_fields", ValueType.FIELD_NAMES)
            .defaultsTo(List.of("Authorization", "Cookie"))
            .perRule()
            .description(
                    "Fields of the client's request that the authorisation server gets, besides X-Forwarded-Method,"
                            + " -Proto, -Host, -Uri and -For.");
    public static final ConfigKey<List<String>> RECEIVE_FIELDS = ConfigKey.builder(
                    "authorize.receive_fields", ValueType.FIELD_NAMES)
            .defaultsTo(List.of())
            .perRule()
            .description("Fields of the server's 2xx response that the origin gets. Fields of these names from clients"
                    + " are removed.");
    public static final ConfigKey<List<String>> CACHE_KEY = ConfigKey.builder("authorize.cache_key", ValueType.NAMES)
            .perRule()
            .description("Parts of a request that determine the decision: method, host, path, url, client,"
                    + " request_header[\"NAME\"] and cookie[\"NAME\"]. The default is everything that the server gets."
                    + " Fields of authorize.send_fields are always added; cookie[\"NAME\"] stands for Cookie.");
    public static final ConfigKey<Duration> TTL = ConfigKey.builder("authorize.ttl", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofHours(24))
            .defaultsTo(Duration.ZERO)
            .perRule()
            .description("Time for which an allowed request allows others with the same authorize.cache_key; with 0"
                    + " none is remembered. no-store or a shorter max-age of the response has precedence.");
    public static final ConfigKey<Duration> NEGATIVE_TTL = ConfigKey.builder(
                    "authorize.negative_ttl", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofHours(24))
            .defaultsTo(Duration.ZERO)
            .perRule()
            .description("Like authorize.ttl, for refused requests. Responses with Set-Cookie are never remembered.");
    public static final ConfigKey<Duration> TIMEOUT = ConfigKey.builder("authorize.timeout", ValueType.DURATION)
            .within(Duration.ofMillis(1), Duration.ofMinutes(5))
            .defaultsTo(Duration.ofSeconds(5))
            .perRule()
            .description("Time limit of a request to the authorisation server, from the wait for a connection to the"
                    + " complete response.");
    public static final ConfigKey<OnError> ON_ERROR = ConfigKey.builder(
                    "authorize.on_error", ValueType.word(OnError.class, false))
            .defaultsTo(OnError.CLOSED)
            .perRule()
            .description("Result if the server does not answer or makes no decision, as by a 5xx status: closed refuses"
                    + " the request with 503, open allows it. For limits of this proxy see authorize.on_limit.");
    public static final ConfigKey<OnError> ON_LIMIT = ConfigKey.builder(
                    "authorize.on_limit", ValueType.word(OnError.class, false))
            .defaultsTo(OnError.CLOSED)
            .perRule()
            .description("Result if the server is not asked because a limit of this proxy is reached, such as"
                    + " origin.queue_max: closed refuses the request with 503. With open, anyone can get access by"
                    + " many requests at once.");
    public static final ConfigKey<Boolean> FORWARD = ConfigKey.builder("authorize.forward", ValueType.BOOLEAN)
            .defaultsTo(false)
            .perRule()
            .description("Whether the origin gets Authorization if authorize.send_fields has it. Then responses are"
                    + " stored only as RFC 9111 section 3.5 permits it for such requests.");
    public static final ConfigKey<String> WHEN = ConfigKey.builder("authorize.when", ValueType.STRING)
            .perRule()
            .description("Condition on the requests that the server decides about, such as path =~ \"^/private/\"; see"
                    + " docs/reference/expressions.md. Without it, the server decides about all requests of the rule.");

    private AuthorizeKeys() {}
}
