package io.millrace.proxy.config.rules;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.FieldLines;
import java.time.Duration;
import java.util.List;

/** Configuration keys for rules, which change requests and responses that a condition selects. */
public final class RuleKeys {
    private static final Duration LIFETIME_MAX = Duration.ofDays(3650);

    /** The rules of one remap rule. */
    public static final ConfigKey<List<ConfigValues>> OF_REMAP = ConfigKey.builder("remap[].rules", ValueType.LIST)
            .atsName("@plugin=header_rewrite.so @pparam")
            .description("Rules for the requests of this remap rule, as in rules; they apply after those of rules.");

    public static final ConfigKey<List<ConfigValues>> RULES = ConfigKey.builder("rules", ValueType.LIST)
            .atsName("plugin.config: header_rewrite.so")
            .description("Changes of requests and responses; see docs/guide/rules.md. All rules whose condition holds"
                    + " apply, in their order; at most 100 for one request.");
    public static final ConfigKey<String> WHEN = ConfigKey.builder("rules[].when", ValueType.STRING)
            .atsName("cond")
            .description("Condition on the request and its response, such as method == \"GET\" && path =~ \"^/img/\";"
                    + " see docs/reference/expressions.md. A rule without it applies to every request.");
    public static final ConfigKey<FieldLines> SET_RESPONSE_HEADER = ConfigKey.builder(
                    "rules[].set_response_header", ValueType.FIELD_LINES)
            .atsName("set-header (SEND_RESPONSE_HDR_HOOK)")
            .description("Fields of the response to the client, instead of all fields with these names.");
    public static final ConfigKey<FieldLines> ADD_RESPONSE_HEADER = ConfigKey.builder(
                    "rules[].add_response_header", ValueType.FIELD_LINES)
            .atsName("add-header (SEND_RESPONSE_HDR_HOOK)")
            .description("Fields of the response to the client, in addition to those with the same name.");
    public static final ConfigKey<List<String>> REMOVE_RESPONSE_HEADER = ConfigKey.builder(
                    "rules[].remove_response_header", ValueType.FIELD_NAMES)
            .atsName("rm-header (SEND_RESPONSE_HDR_HOOK)")
            .description(
                    "Names of fields to remove from the response to the client, including fields that this proxy adds.");
    public static final ConfigKey<FieldLines> SET_STORED_HEADER = ConfigKey.builder(
                    "rules[].set_stored_header", ValueType.FIELD_LINES)
            .atsName("set-header (READ_RESPONSE_HDR_HOOK)")
            .description("Fields of the origin's response before it is stored, instead of all fields with these"
                    + " names.");
    public static final ConfigKey<FieldLines> ADD_STORED_HEADER = ConfigKey.builder(
                    "rules[].add_stored_header", ValueType.FIELD_LINES)
            .atsName("add-header (READ_RESPONSE_HDR_HOOK)")
            .description("Fields of the origin's response before it is stored, in addition to those with the same"
                    + " name.");
    public static final ConfigKey<List<String>> REMOVE_STORED_HEADER = ConfigKey.builder(
                    "rules[].remove_stored_header", ValueType.FIELD_NAMES)
            .atsName("rm-header (READ_RESPONSE_HDR_HOOK)")
            .description("Names of fields to remove from the origin's response before it is stored.");
    public static final ConfigKey<FieldLines> SET_REQUEST_HEADER = ConfigKey.builder(
                    "rules[].set_request_header", ValueType.FIELD_LINES)
            .atsName("set-header (SEND_REQUEST_HDR_HOOK)")
            .description("Fields of the request to the origin, instead of all fields with these names.");
    public static final ConfigKey<FieldLines> ADD_REQUEST_HEADER = ConfigKey.builder(
                    "rules[].add_request_header", ValueType.FIELD_LINES)
            .atsName("add-header (SEND_REQUEST_HDR_HOOK)")
            .description("Fields of the request to the origin, in addition to those with the same name.");
    public static final ConfigKey<List<String>> REMOVE_REQUEST_HEADER = ConfigKey.builder(
                    "rules[].remove_request_header", ValueType.FIELD_NAMES)
            .atsName("rm-header (SEND_REQUEST_HDR_HOOK)")
            .description("Names of fields to remove from the request to the origin.");
    public static final ConfigKey<String> REWRITE_PATH = ConfigKey.builder("rules[].rewrite.path", ValueType.STRING)
            .atsName("set-destination PATH, regex_remap")
            .description("Path that the origin gets, instead of the mapped one; placeholders as in redirect.to.");
    public static final ConfigKey<String> REWRITE_QUERY = ConfigKey.builder("rules[].rewrite.query", ValueType.QUERY)
            .atsName("set-destination QUERY, rm-destination QUERY")
            .description("Query that the origin gets, without its question mark; empty for none. Placeholders are $0 to"
                    + " $9 and $host.");
    public static final ConfigKey<String> REDIRECT_TO = ConfigKey.builder("rules[].redirect.to", ValueType.STRING)
            .atsName("set-redirect")
            .description(
                    "URL or path to which the client is redirected. $1 to $9 stand for the groups of the condition's"
                            + " path =~, $0 for its whole match, $host, $path and $query for parts of the client's"
                            + " URL, $$ for a dollar sign.");
    public static final ConfigKey<Integer> REDIRECT_STATUS = ConfigKey.builder(
                    "rules[].redirect.status", ValueType.INTEGER)
            .within(301, 308)
            .defaultsTo(302)
            .atsName("set-redirect")
            .description("Status of the redirection: 301, 302, 307 or 308.");
    public static final ConfigKey<Integer> ANSWER_STATUS = ConfigKey.builder("rules[].answer.status", ValueType.INTEGER)
            .within(200, 599)
            .atsName("set-status")
            .description("Status of a response that this proxy gives instead of cache and origin.");
    public static final ConfigKey<String> ANSWER_BODY = ConfigKey.builder("rules[].answer.body", ValueType.STRING)
            .atsName("set-status-reason, set-body")
            .description("Content of that response, at most 64 KiB; the default is one line with the status.");
    public static final ConfigKey<String> ANSWER_TYPE = ConfigKey.builder(
                    "rules[].answer.content_type", ValueType.STRING)
            .defaultsTo("text/plain; charset=utf-8")
            .description("Media type of answer.body.");
    public static final ConfigKey<Boolean> BYPASS = ConfigKey.builder("rules[].bypass", ValueType.BOOLEAN)
            .defaultsTo(false)
            .atsName("set-config proxy.config.http.cache.http 0")
            .description("Whether the request is sent to the origin without the cache, and its response not stored.");
    public static final ConfigKey<Duration> TTL = ConfigKey.builder("rules[].ttl", ValueType.DURATION)
            .within(Duration.ofSeconds(1), LIFETIME_MAX)
            .wholeSeconds()
            .atsName("set-config proxy.config.http.cache.guaranteed_min_lifetime")
            .description(
                    "As ttl_in_cache of cache_rules, and overrides it. The condition must not depend on the client,"
                            + " since all clients share the response.");

    /** The actions of a rule, for messages. */
    public static final List<ConfigKey<?>> ACTIONS = List.of(
            SET_RESPONSE_HEADER,
            ADD_RESPONSE_HEADER,
            REMOVE_RESPONSE_HEADER,
            SET_STORED_HEADER,
            ADD_STORED_HEADER,
            REMOVE_STORED_HEADER,
            SET_REQUEST_HEADER,
            ADD_REQUEST_HEADER,
            REMOVE_REQUEST_HEADER,
            REWRITE_PATH,
            REWRITE_QUERY,
            REDIRECT_TO,
            ANSWER_STATUS,
            BYPASS,
            TTL);

    private RuleKeys() {}
}
