package io.millrace.proxy.config.remap;

import com.google.re2j.Pattern;
import io.millrace.proxy.config.access.AccessConfig;
import io.millrace.proxy.config.access.ClientLimitKeys;
import io.millrace.proxy.config.access.ForwardProxyKeys;
import io.millrace.proxy.config.access.ProxyProtocolKeys;
import io.millrace.proxy.config.cache.CacheConfig;
import io.millrace.proxy.config.extension.ExtensionKeys;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.origins.OriginLimitKeys;
import io.millrace.proxy.config.origins.TunnelKeys;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.AddressRange;
import io.millrace.proxy.config.value.HostTemplate;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.ProxyProtocolVersion;
import io.millrace.proxy.config.value.RefererConfig;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.config.value.SourceAddress;
import io.millrace.proxy.http.forward.UpgradeFields;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A rule of {@code remap}, with the settings in force for matching requests. Immutable.
 *
 * @param index index in the file, from 0
 * @param verb kind of the rule
 * @param from the pattern; a null host matches every host
 * @param to the target; host and scheme are never null
 * @param status status code of a redirect; 0 if the rule does not redirect, or uses the default of its kind
 * @param referers Referer conditions; null for none
 * @param rewriteSetCookie whether a rule for responses also rewrites Set-Cookie
 * @param pristineHostHdr whether the origin receives the client's Host field
 * @param upgrade protocols, in lower case, to which a connection may switch; empty for none
 * @param proxyProtocolOut PROXY header at the start of connections to the origin
 * @param requestBufferBytes request content that is buffered before a connection to the origin is used; 0 for none
 * @param methods permitted methods; empty for all except TRACE and CONNECT
 * @param purgeAllow addresses whose PURGE requests are accepted
 * @param cache cache settings in force: those of the rule, completed by the general ones
 * @param origins name of the origin group; null to use the host of {@code to}
 * @param unixSocket Unix domain socket of the origin of {@code to}; null for TCP
 * @param site site to which the tags of responses belong; null for the host of their URL
 * @param extensions names of the extensions that see the requests; null for all
 * @param originTls TLS settings for the origin of {@code to}
 * @param originHttp2 use of HTTP/2 with the origin of {@code to}
 * @param originSource local addresses of connections to the origin of {@code to}
 * @param transactionNanos longest time from a request's head to the end of its response; 0 for no limit
 * @param isForwarding whether this is the pseudo rule of the forward proxy, for all hosts that no rule maps. Then
 *     {@code to} is a placeholder
 * @param location file position, such as {@code millrace.yaml:12:5}; null for a rule set in code
 */
public record RemapRuleConfig(
        int index,
        RemapVerb verb,
        RuleUrl from,
        RuleUrl to,
        int status,
        @Nullable RefererConfig referers,
        boolean rewriteSetCookie,
        boolean pristineHostHdr,
        List<String> upgrade,
        ProxyProtocolVersion proxyProtocolOut,
        int requestBufferBytes,
        List<String> methods,
        List<AddressRange> purgeAllow,
        CacheConfig cache,
        @Nullable String origins,
        @Nullable Path unixSocket,
        @Nullable String site,
        @Nullable List<String> extensions,
        OriginTlsConfig originTls,
        OriginConfig.Http2 originHttp2,
        SourceAddress originSource,
        long transactionNanos,
        boolean isForwarding,
        @Nullable String location) {
    /** Returns the pseudo rule for forwarded requests that no rule maps; it has the general settings. */
    public static RemapRuleConfig forwarding(int index, ConfigValues general) {
        ConfigValues element = ConfigValues.builder()
                .set(RemapKeys.MAP, new RuleUrl(null, null, -1, "/"))
                .set(RemapKeys.TO, new RuleUrl("http", "forwarded.invalid", -1, "/"))
                // No PROXY header: hosts chosen by clients do not expect one.
                .set(ProxyProtocolKeys.OUT, ProxyProtocolVersion.NONE)
                .build();
        return of(
                index,
                element,
                Settings.of(element, element.over(general)),
                general.find(ForwardProxyKeys.ORIGINS),
                true);
    }

    /** Returns all rules of a configuration. Rules with equal settings share the records of these settings. */
    public static List<RemapRuleConfig> all(List<ConfigValues> elements, ConfigValues general) {
        Map<ConfigValues, Settings> settingsByValues = new HashMap<>();
        List<RemapRuleConfig> rules = new ArrayList<>(elements.size());
        for (ConfigValues element : elements) {
            Settings settings = settingsByValues.computeIfAbsent(
                    element.settingsOfRule(), own -> Settings.of(own, own.over(general)));
            rules.add(of(rules.size(), element, settings, element.find(RemapKeys.ORIGINS), false));
        }
        return List.copyOf(rules);
    }

    /** The values in force of all keys that a rule can override. */
    private record Settings(
            boolean pristineHostHdr,
            List<String> upgrade,
            ProxyProtocolVersion proxyProtocolOut,
            int requestBufferBytes,
            List<String> methods,
            List<AddressRange> purgeAllow,
            CacheConfig cache,
            OriginTlsConfig originTls,
            OriginConfig.Http2 originHttp2,
            SourceAddress originSource,
            long transactionNanos) {
        static Settings of(ConfigValues own, ConfigValues effective) {
            return new Settings(
                    effective.get(ConfigKeys.PRISTINE_HOST_HDR),
                    effective.get(TunnelKeys.UPGRADE),
                    effective.get(ProxyProtocolKeys.OUT),
                    Math.toIntExact(effective.get(ClientLimitKeys.REQUEST_BUFFER)),
                    AccessConfig.list(effective, ConfigKeys.METHODS),
                    purgers(effective),
                    CacheConfig.from(effective),
                    OriginTlsConfig.from(own, effective),
                    effective.get(Http2Keys.ORIGIN),
                    effective.get(OriginLimitKeys.SOURCE),
                    effective.get(OriginLimitKeys.TRANSACTION).toNanos());
        }
    }

    private static RemapRuleConfig of(
            int index, ConfigValues element, Settings settings, @Nullable String origins, boolean forwarding) {
        RemapVerb verb = verbOf(element);
        Integer status = element.find(RemapKeys.STATUS);
        return new RemapRuleConfig(
                index,
                verb,
                element.get(RemapKeys.of(verb)),
                element.get(RemapKeys.TO),
                status == null ? 0 : status,
                verb == RemapVerb.MAP_WITH_REFERER
                        ? new RefererConfig(element.get(RemapKeys.REFERERS), element.get(RemapKeys.REFERER_REDIRECT))
                        : null,
                element.get(RemapKeys.REWRITE_SET_COOKIE),
                settings.pristineHostHdr,
                element.get(RemapKeys.of(verb)).isWebSocket() ? List.of(UpgradeFields.WEBSOCKET) : settings.upgrade,
                settings.proxyProtocolOut,
                settings.requestBufferBytes,
                settings.methods,
                settings.purgeAllow,
                settings.cache,
                origins,
                element.find(RemapKeys.UNIX_SOCKET),
                element.find(RemapKeys.SITE),
                element.find(ExtensionKeys.OF_REMAP),
                settings.originTls,
                settings.originHttp2,
                settings.originSource,
                settings.transactionNanos,
                forwarding,
                element.filePosition());
    }

    /** Returns true if an extension sees the requests of this rule. */
    public boolean usesExtension(String name) {
        return extensions == null || extensions.contains(name);
    }

    /** The group of rules that are searched together with this rule. */
    public RemapVerb.Group group() {
        return from.isWebSocket() ? RemapVerb.Group.WEBSOCKET : verb.group();
    }

    /** Returns the regular expressions of an element of {@code remap}, which may be incomplete or invalid. */
    public static List<String> expressions(ConfigValues element) {
        List<String> expressions = new ArrayList<>();
        for (RemapVerb verb : RemapVerb.all()) {
            RuleUrl from = verb.isRegex() ? element.find(RemapKeys.of(verb)) : null;
            if (from != null && from.host() != null) {
                expressions.add(from.host());
            }
        }
        List<String> referers = element.find(RemapKeys.REFERERS);
        if (referers != null) {
            expressions.addAll(referers);
        }
        return expressions;
    }

    private static RemapVerb verbOf(ConfigValues element) {
        for (RemapVerb verb : RemapVerb.all()) {
            if (element.isSet(RemapKeys.of(verb))) {
                return verb;
            }
        }
        throw new IllegalArgumentException("the rule has none of " + RemapVerb.words());
    }

    private static List<AddressRange> purgers(ConfigValues effective) {
        try {
            return AccessConfig.purgers(effective);
        } catch (InvalidValueException e) {
            throw new IllegalArgumentException("purge.allow: " + e.problem(), e);
        }
    }

    /** Compiles the regular expression that must match the whole host. Each call compiles it again. */
    public Pattern hostPattern() {
        if (!verb.isRegex()) {
            throw new IllegalStateException("no expression: " + this);
        }
        return HostTemplate.compile(String.valueOf(from.host()));
    }

    /** Formats the rule for display: {@code map http://cdn.example.com/js/ http://js.example.com/}. */
    @Override
    public String toString() {
        return verb.word() + " " + from + " " + to;
    }
}
