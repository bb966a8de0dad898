package io.millrace.proxy.config.remap;

import static io.millrace.proxy.config.key.ConfigKey.builder;

import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The catalogue's entries for remap rules: an element of {@code remap} has one of the verbs, and what it leads to. */
public final class RemapKeys {
    public static final ConfigKey<RuleUrl> MAP = builder("remap[].map", ValueType.RULE_FROM)
            .atsName("map")
            .description(
                    "Client URLs that begin with this are mapped; without a port it matches those ports that no rule for "
                            + "the host names; a path alone matches every host; ws and wss are for requests that ask for "
                            + "WebSocket. A rule has exactly one of the keys down to "
                            + "regex_redirect_temporary, which say its kind.");
    public static final ConfigKey<RuleUrl> REGEX_MAP = builder("remap[].regex_map", ValueType.RULE_REGEX)
            .atsName("regex_map")
            .description(
                    "As map, the host being an expression in RE2's syntax that the whole of the client's host must match; "
                            + "$0 in to stands for the host, $1 to $9 for what the groups matched.");
    public static final ConfigKey<RuleUrl> MAP_WITH_RECV_PORT = builder(
                    "remap[].map_with_recv_port", ValueType.RULE_FROM)
            .atsName("map_with_recv_port")
            .description(
                    "As map, but the port, which must be named, is that on which the request arrived, whatever the URL "
                            + "says; looked at before all other kinds.");
    public static final ConfigKey<RuleUrl> REGEX_MAP_WITH_RECV_PORT = builder(
                    "remap[].regex_map_with_recv_port", ValueType.RULE_REGEX)
            .atsName("regex_map_with_recv_port")
            .description("As map_with_recv_port, the host being an expression as for regex_map.");
    public static final ConfigKey<RuleUrl> MAP_WITH_REFERER = builder("remap[].map_with_referer", ValueType.RULE_FROM)
            .atsName("map_with_referer, proxy.config.http.referer_filter")
            .description(
                    "As map, for requests whose Referer is one of referers; others are redirected to referer_redirect.");
    public static final ConfigKey<RuleUrl> REVERSE_MAP = builder("remap[].reverse_map", ValueType.RULE_FROM)
            .atsName("reverse_map")
            .description(
                    "Origin URLs that begin with this are replaced by to in Location and Content-Location of answers; "
                            + "without a port it is for the scheme's own.");
    public static final ConfigKey<RuleUrl> REDIRECT = builder("remap[].redirect", ValueType.RULE_FROM)
            .atsName("redirect")
            .description(
                    "Client URLs that begin with this are answered with 301 and the URL of to, the rest of the path and "
                            + "the query appended; no origin is asked.");
    public static final ConfigKey<RuleUrl> REDIRECT_TEMPORARY = builder(
                    "remap[].redirect_temporary", ValueType.RULE_FROM)
            .atsName("redirect_temporary")
            .description("As redirect, with 307, and 302 to clients of HTTP/1.0.");
    public static final ConfigKey<RuleUrl> REGEX_REDIRECT = builder("remap[].regex_redirect", ValueType.RULE_REGEX)
            .atsName("regex_redirect")
            .description(
                    "As redirect, the host being an expression as for regex_map; looked at after all other kinds.");
    public static final ConfigKey<RuleUrl> REGEX_REDIRECT_TEMPORARY = builder(
                    "remap[].regex_redirect_temporary", ValueType.RULE_REGEX)
            .atsName("regex_redirect_temporary")
            .description("As redirect_temporary, the host being an expression as for regex_map.");
    public static final ConfigKey<RuleUrl> TO = builder("remap[].to", ValueType.RULE_TO)
            .required()
            .description(
                    "URL that replaces what the rule matched: the origin's, for reverse_map the client's; the rest of the"
                            + " path and the query are appended.");
    public static final ConfigKey<Integer> STATUS = builder("remap[].status", ValueType.INTEGER)
            .within(301, 308)
            .description(
                    "Status of a redirection: 301 or 308 for redirect, 307 or 302 for redirect_temporary; 307 and 308 keep "
                            + "the client's method.");

    public static final ConfigKey<List<String>> REFERERS = builder("remap[].referers", ValueType.REFERERS)
            .atsName("map_with_referer")
            .description(
                    "For map_with_referer: expressions in RE2's syntax that are found anywhere in Referer, without case; the first "
                            + "that is found decides. ~ before one refuses what has it; * lets any other through; ~* makes "
                            + "Referer optional.");
    public static final ConfigKey<String> REFERER_REDIRECT = builder(
                    "remap[].referer_redirect", ValueType.REFERER_REDIRECT)
            .atsName("map_with_referer, proxy.config.http.referer_format_redirect")
            .description(
                    "Where map_with_referer sends requests that it does not let through, with 302; %r stands for their "
                            + "Referer, %f for the rule's URL, %t for that of to, %o for the URL that the origin would be asked "
                            + "for.");
    public static final ConfigKey<Boolean> REWRITE_SET_COOKIE = builder("remap[].rewrite_set_cookie", ValueType.BOOLEAN)
            .defaultsTo(false)
            .description(
                    "For reverse_map: whether Domain and Path of Set-Cookie in answers of this origin are changed to those "
                            + "of to as well.");

    public static final ConfigKey<String> ORIGINS = builder("remap[].origins", ValueType.STRING)
            .atsName("@strategy, parent.config")
            .description(
                    "Name of the group of origins that connections go to in place of the host of to, which is still what"
                            + " the Host field says.");

    public static final ConfigKey<String> SITE = builder("remap[].site", ValueType.HOST)
            .description(
                    "Name of the site that the tags of this rule's responses are of; without it the client's host. Rules with"
                            + " one site share its tags, and a purge by request needs purge.allow of all of them.");

    public static final List<ConfigKey<?>> OPTIONS =
            List.of(STATUS, REFERERS, REFERER_REDIRECT, REWRITE_SET_COOKIE, ORIGINS, SITE, FilterKeys.RULE_FILTERS);

    private static final Map<RemapVerb, ConfigKey<RuleUrl>> BY_VERB = new EnumMap<>(Map.of(
            RemapVerb.MAP, MAP,
            RemapVerb.REGEX_MAP, REGEX_MAP,
            RemapVerb.MAP_WITH_RECV_PORT, MAP_WITH_RECV_PORT,
            RemapVerb.REGEX_MAP_WITH_RECV_PORT, REGEX_MAP_WITH_RECV_PORT,
            RemapVerb.MAP_WITH_REFERER, MAP_WITH_REFERER,
            RemapVerb.REVERSE_MAP, REVERSE_MAP,
            RemapVerb.REDIRECT, REDIRECT,
            RemapVerb.REDIRECT_TEMPORARY, REDIRECT_TEMPORARY,
            RemapVerb.REGEX_REDIRECT, REGEX_REDIRECT,
            RemapVerb.REGEX_REDIRECT_TEMPORARY, REGEX_REDIRECT_TEMPORARY));

    private RemapKeys() {}

    /** The key whose value a rule of this kind matches. */
    public static ConfigKey<RuleUrl> of(RemapVerb verb) {
        ConfigKey<RuleUrl> key = BY_VERB.get(verb);
        if (key == null) {
            throw new IllegalStateException("no key for " + verb);
        }
        return key;
    }
}
