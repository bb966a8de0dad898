package io.millrace.proxy.config.remap;

import com.google.re2j.Pattern;
import io.millrace.proxy.config.access.AccessConfig;
import io.millrace.proxy.config.access.ClientLimitKeys;
import io.millrace.proxy.config.access.ForwardProxyKeys;
import io.millrace.proxy.config.access.ProxyProtocolKeys;
import io.millrace.proxy.config.cache.CacheConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.config.origins.OriginConfig;
import io.millrace.proxy.config.origins.TunnelKeys;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.AddressRange;
import io.millrace.proxy.config.value.HostTemplate;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.ProxyProtocolVersion;
import io.millrace.proxy.config.value.RefererConfig;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.http.forward.UpgradeFields;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One rule of {@code remap}, with the settings that hold for the requests it matches. Immutable.
 *
 * @param index place in the file, from 0
 * @param verb its kind
 * @param from what it matches; a null host matches every host
 * @param to where it leads; host and scheme are never null
 * @param status status of a redirection; 0 when the rule is none, or has its kind's own
 * @param referers which pages may link to what it matches; null when that does not matter
 * @param rewriteSetCookie whether a rule for answers is for their cookies as well
 * @param pristineHostHdr whether the origin gets the client's Host field
 * @param upgrade the protocols, in lower case, that a connection may switch to; empty for none
 * @param proxyProtocolOut what connections to the origin begin with
 * @param requestBufferBytes request content that is kept before the origin is asked; 0 for none
 * @param methods the methods that pass; empty for all but TRACE and CONNECT
 * @param purgeAllow whose PURGE requests are obeyed
 * @param cache the cache settings of this rule: its own over the general ones
 * @param origins the group of origins that connections go to; null for the host of {@code to}
 * @param site the site that tags of its responses are of; null for the host of their URL
 * @param originTls TLS to the origin of {@code to}
 * @param originHttp2 whether HTTP/2 is spoken with the origin of {@code to}
 * @param isForwarding whether it stands for all hosts that no rule maps and that clients name themselves: then {@code to} is a placeholder
 * @param location where it stands, as {@code millrace.yaml:12:5}; null when it comes from code
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
        @Nullable String site,
        OriginTlsConfig originTls,
        OriginConfig.Http2 originHttp2,
        boolean isForwarding,
        @Nullable String location) {
    /** What holds for requests that no rule maps and that are forwarded: the general settings. */
    public static RemapRuleConfig forwarding(int index, ConfigValues general) {
        ConfigValues element = ConfigValues.builder()
                .set(RemapKeys.MAP, new RuleUrl(null, null, -1, "/"))
                .set(RemapKeys.TO, new RuleUrl("http", "forwarded.invalid", -1, "/"))
                // Hosts that clients name are not told of them in a way that they do not expect.
                .set(ProxyProtocolKeys.OUT, ProxyProtocolVersion.NONE)
                .build();
        return of(
                index,
                element,
                Settings.of(element, element.over(general)),
                general.find(ForwardProxyKeys.ORIGINS),
                true);
    }

    /** All rules of a configuration. Rules that make equal settings for themselves share the records of them. */
    public static List<RemapRuleConfig> all(List<ConfigValues> elements, ConfigValues general) {
        Map<ConfigValues, Settings> known = new HashMap<>();
        List<RemapRuleConfig> rules = new ArrayList<>(elements.size());
        for (ConfigValues element : elements) {
            Settings settings =
                    known.computeIfAbsent(element.settingsOfRule(), own -> Settings.of(own, own.over(general)));
            rules.add(of(rules.size(), element, settings, element.find(RemapKeys.ORIGINS), false));
        }
        return List.copyOf(rules);
    }

    /** A rule's values of keys that hold for all requests where no rule sets them. */
    private record Settings(
            boolean pristineHostHdr,
            List<String> upgrade,
            ProxyProtocolVersion proxyProtocolOut,
            int requestBufferBytes,
            List<String> methods,
            List<AddressRange> purgeAllow,
            CacheConfig cache,
            OriginTlsConfig originTls,
            OriginConfig.Http2 originHttp2) {
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
                    effective.get(Http2Keys.ORIGIN));
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
                element.find(RemapKeys.SITE),
                settings.originTls,
                settings.originHttp2,
                forwarding,
                element.origin());
    }

    /** Which rules it stands with. */
    public RemapVerb.Group group() {
        return from.isWebSocket() ? RemapVerb.Group.WEBSOCKET : verb.group();
    }

    /** The expressions of a rule that was read, in whatever state it is. */
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

    /** The expression that the whole of the host must match, compiled again at every call. */
    public Pattern hostPattern() {
        if (!verb.isRegex()) {
            throw new IllegalStateException("no expression: " + this);
        }
        return HostTemplate.compile(String.valueOf(from.host()));
    }

    /** For people: {@code map http://cdn.example.com/js/ http://js.example.com/}. */
    @Override
    public String toString() {
        return verb.word() + " " + from + " " + to;
    }
}
