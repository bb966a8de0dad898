package io.millrace.proxy.config.remap;

import io.millrace.proxy.config.access.ErrorPageKeys;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.edge.SplitKeys;
import io.millrace.proxy.config.extension.ExtensionKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RuleUrl;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Configuration keys for remap rules. An element of {@code remap} has one key that names its kind (its verb, such as
 * {@code map} or {@code redirect}), and a target.
 */
public final class RemapKeys {
    public static final ConfigKey<RuleUrl> MAP = ConfigKey.builder("remap[].map", ValueType.RULE_FROM)
            .atsName("map")
            .description(
                    "Client URLs that begin with this are mapped. A URL without a port matches every port; rules that"
                            + " name the request's port are tried first. A path alone matches every host. The schemes ws and"
                            + " wss match requests for WebSocket. A rule has exactly one of the keys from map to"
                            + " regex_redirect_temporary, which determines its kind.");
    public static final ConfigKey<RuleUrl> REGEX_MAP = ConfigKey.builder("remap[].regex_map", ValueType.RULE_REGEX)
            .atsName("regex_map")
            .description("As map, but the host is a regular expression in RE2 syntax that must match the client's whole"
                    + " host. In remap[].to, $0 stands for the host, and $1 to $9 for the matched groups.");
    public static final ConfigKey<RuleUrl> MAP_WITH_RECV_PORT = ConfigKey.builder(
                    "remap[].map_with_recv_port", ValueType.RULE_FROM)
            .atsName("map_with_recv_port")
            .description(
                    "As map, but the port, which is required, is the port on which the request arrived, not that of"
                            + " the URL. This kind is tried before all others, except rules for ws and wss.");
    public static final ConfigKey<RuleUrl> REGEX_MAP_WITH_RECV_PORT = ConfigKey.builder(
                    "remap[].regex_map_with_recv_port", ValueType.RULE_REGEX)
            .atsName("regex_map_with_recv_port")
            .description("As map_with_recv_port, but the host is an expression as in regex_map.");
    public static final ConfigKey<RuleUrl> MAP_WITH_REFERER = ConfigKey.builder(
                    "remap[].map_with_referer", ValueType.RULE_FROM)
            .atsName("map_with_referer, proxy.config.http.referer_filter")
            .description("As map, for requests whose Referer is one of referers; others are redirected to"
                    + " referer_redirect.");
    public static final ConfigKey<RuleUrl> REVERSE_MAP = ConfigKey.builder("remap[].reverse_map", ValueType.RULE_FROM)
            .atsName("reverse_map")
            .description(
                    "In Location and Content-Location of responses, origin URLs that begin with this are replaced by"
                            + " remap[].to; without a port it means the scheme's default port.");
    public static final ConfigKey<RuleUrl> REDIRECT = ConfigKey.builder("remap[].redirect", ValueType.RULE_FROM)
            .atsName("redirect")
            .description("Client URLs that begin with this are redirected to remap[].to with 301; the rest of the path"
                    + " and the query are appended. No request goes to an origin.");
    public static final ConfigKey<RuleUrl> REDIRECT_TEMPORARY = ConfigKey.builder(
                    "remap[].redirect_temporary", ValueType.RULE_FROM)
            .atsName("redirect_temporary")
            .description("As redirect, with 307, and 302 to clients of HTTP/1.0.");
    public static final ConfigKey<RuleUrl> REGEX_REDIRECT = ConfigKey.builder(
                    "remap[].regex_redirect", ValueType.RULE_REGEX)
            .atsName("regex_redirect")
            .description("As redirect, but the host is an expression as in regex_map. These rules are tried after all"
                    + " other kinds.");
    public static final ConfigKey<RuleUrl> REGEX_REDIRECT_TEMPORARY = ConfigKey.builder(
                    "remap[].regex_redirect_temporary", ValueType.RULE_REGEX)
            .atsName("regex_redirect_temporary")
            .description("As redirect_temporary, but the host is an expression as in regex_map.");
    public static final ConfigKey<RuleUrl> TO = ConfigKey.builder("remap[].to", ValueType.RULE_TO)
            .required()
            .description(
                    "URL that replaces the matched part: a URL of the origin, or for reverse_map a URL for clients. The"
                            + " rest of the path and the query are appended.");
    public static final ConfigKey<Integer> STATUS = ConfigKey.builder("remap[].status", ValueType.INTEGER)
            .within(301, 308)
            .description(
                    "Status of a redirection: 301 or 308 for redirect, 307 or 302 for redirect_temporary; 307 and 308"
                            + " keep the client's method.");

    public static final ConfigKey<List<String>> REFERERS = ConfigKey.builder("remap[].referers", ValueType.REFERERS)
            .atsName("map_with_referer")
            .description(
                    "For map_with_referer: expressions in RE2 syntax that match anywhere in Referer, ignoring case."
                            + " The first match decides. An expression with ~ before it refuses the request. *"
                            + " accepts any other Referer, and ~* accepts requests without Referer.");
    public static final ConfigKey<String> REFERER_REDIRECT = ConfigKey.builder(
                    "remap[].referer_redirect", ValueType.REFERER_REDIRECT)
            .atsName("map_with_referer, proxy.config.http.referer_format_redirect")
            .description("Redirection target, with 302, for requests that map_with_referer refuses. %r stands for the"
                    + " Referer, %f for the rule's URL, %t for remap[].to, and %o for the URL of the origin"
                    + " request.");
    public static final ConfigKey<Boolean> REWRITE_SET_COOKIE = ConfigKey.builder(
                    "remap[].rewrite_set_cookie", ValueType.BOOLEAN)
            .defaultsTo(false)
            .description(
                    "For reverse_map: whether Domain and Path of Set-Cookie in responses of this origin are changed to"
                            + " those of remap[].to.");

    public static final ConfigKey<String> ORIGINS = ConfigKey.builder("remap[].origins", ValueType.STRING)
            .atsName("@strategy, parent.config")
            .description(
                    "Name of the origin group whose hosts receive the requests instead of the host of remap[].to; the"
                            + " Host field still contains the host of remap[].to.");

    public static final ConfigKey<Path> UNIX_SOCKET = ConfigKey.builder("remap[].unix_socket", ValueType.PATH)
            .description("Unix domain socket on which the origin listens, instead of the host and port of remap[].to."
                    + " The Host field and the check of the certificate still use the host of remap[].to.");

    public static final ConfigKey<String> SITE = ConfigKey.builder("remap[].site", ValueType.HOST)
            .description(
                    "Name of the site to which the tags of this rule's responses belong; the default is the client's"
                            + " host. Rules with the same site share its tags, and a purge by request needs"
                            + " purge.allow of all these rules.");

    /** All keys of an element except its verb, its target and overridden settings. */
    public static final List<ConfigKey<?>> OPTIONS = List.of(
            STATUS,
            REFERERS,
            REFERER_REDIRECT,
            REWRITE_SET_COOKIE,
            ORIGINS,
            UNIX_SOCKET,
            SITE,
            FilterKeys.RULE_FILTERS,
            RuleKeys.OF_REMAP,
            ExtensionKeys.OF_REMAP,
            RequestLimitKeys.OF_REMAP,
            ErrorPageKeys.OF_REMAP,
            SplitKeys.SPLIT,
            SplitKeys.SPLIT_BY);

    private static final Map<RemapVerb, ConfigKey<RuleUrl>> BY_VERB = new EnumMap<>(Map.ofEntries(
            Map.entry(RemapVerb.MAP, MAP),
            Map.entry(RemapVerb.REGEX_MAP, REGEX_MAP),
            Map.entry(RemapVerb.MAP_WITH_RECV_PORT, MAP_WITH_RECV_PORT),
            Map.entry(RemapVerb.REGEX_MAP_WITH_RECV_PORT, REGEX_MAP_WITH_RECV_PORT),
            Map.entry(RemapVerb.MAP_WITH_REFERER, MAP_WITH_REFERER),
            Map.entry(RemapVerb.REVERSE_MAP, REVERSE_MAP),
            Map.entry(RemapVerb.REDIRECT, REDIRECT),
            Map.entry(RemapVerb.REDIRECT_TEMPORARY, REDIRECT_TEMPORARY),
            Map.entry(RemapVerb.REGEX_REDIRECT, REGEX_REDIRECT),
            Map.entry(RemapVerb.REGEX_REDIRECT_TEMPORARY, REGEX_REDIRECT_TEMPORARY)));

    private RemapKeys() {}

    /** Returns the key that contains the pattern of rules of this kind. */
    public static ConfigKey<RuleUrl> of(RemapVerb verb) {
        ConfigKey<RuleUrl> key = BY_VERB.get(verb);
        if (key == null) {
            throw new IllegalStateException("no key for " + verb);
        }
        return key;
    }
}
