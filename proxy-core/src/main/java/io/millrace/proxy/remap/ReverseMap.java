package io.millrace.proxy.remap;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The {@code reverse_map} rules, which replace URLs of origins in response fields by URLs for clients. Stored
 * responses keep the origin's URLs; each response is changed when it is sent. Therefore one stored response serves
 * clients of several hosts, and a new rule takes effect immediately.
 *
 * <p>If several rules match an origin's URL, the first rule that leads to the client's scheme and host is used.
 * If there is none, the first rule is used. Immutable.
 */
public final class ReverseMap {
    private final HostIndex allRules;
    private final Map<String, HostIndex> byClient = new HashMap<>();
    private final boolean anyRewritesCookies;

    private ReverseMap(List<RemapRule> rules) {
        allRules = new HostIndex(rules);
        anyRewritesCookies = rules.stream().anyMatch(rule -> rule.config().rewriteSetCookie());
        rules.stream()
                .collect(Collectors.groupingBy(ReverseMap::clientOf))
                .forEach((client, rulesOfClient) -> byClient.put(client, new HostIndex(rulesOfClient)));
    }

    private static String clientOf(RemapRule rule) {
        return rule.config().to().scheme() + "://" + rule.config().to().host();
    }

    /** Returns the reverse rules of a configuration; null if there are none. */
    public static @Nullable ReverseMap of(ProxyConfig config) {
        List<RemapRule> rules = config.remap().stream()
                .filter(rule -> rule.verb() == RemapVerb.REVERSE_MAP)
                .map(RemapRule::new)
                .toList();
        return rules.isEmpty() ? null : new ReverseMap(rules);
    }

    /** Returns the origin's head with URLs for the client. Returns the same object if nothing changes. */
    public ResponseHead toClient(ResponseHead head, TargetUri client, Mapped mapped) {
        FieldSection fields = head.fields();
        if (!isConcerned(fields)) {
            return head;
        }
        FieldSection changed = changed(fields, client, mapped);
        return changed == fields ? head : head.withFields(changed);
    }

    /**
     * Returns a stored head with URLs for the client. Returns the same object, without allocation, if the head
     * contains no URL.
     */
    public StoredHead toClient(StoredHead head, TargetUri client, Mapped mapped) {
        if (!head.hasUrlFields()) {
            return head;
        }
        FieldSection fields = head.fields();
        FieldSection changed = changed(fields, client, mapped);
        return changed == fields ? head : head.withFields(changed);
    }

    private static boolean isConcerned(FieldSection fields) {
        return fields.contains(FieldName.LOCATION)
                || fields.contains(FieldName.CONTENT_LOCATION)
                || fields.contains(FieldName.SET_COOKIE);
    }

    private FieldSection changed(FieldSection fields, TargetUri client, Mapped mapped) {
        TargetUri origin = originUrl(client, mapped);
        if (origin == null) {
            return fields;
        }
        RemapRule cookieRule = anyRewritesCookies ? find(origin, client) : null;
        boolean rewritesCookies = cookieRule != null && cookieRule.config().rewriteSetCookie();
        FieldSection.Builder changed = FieldSection.builderLike(fields);
        boolean any = false;
        for (int line = 0; line < fields.size(); line++) {
            String value = null;
            boolean location = fields.isNamed(line, FieldName.LOCATION);
            if (location || fields.isNamed(line, FieldName.CONTENT_LOCATION)) {
                value = url(fields.value(line), client, origin);
            } else if (cookieRule != null && rewritesCookies && fields.isNamed(line, FieldName.SET_COOKIE)) {
                value = SetCookieRewrite.of(fields.value(line), cookieRule, origin, client);
            }
            if (value == null) {
                changed.addLine(fields, line);
            } else {
                changed.add(fields.name(line), value);
                any = true;
            }
        }
        return any ? changed.build() : fields;
    }

    /** Returns the URL that the origin receives for the client's request; null in asterisk form. */
    private static @Nullable TargetUri originUrl(TargetUri client, Mapped mapped) {
        if (client.form() == TargetUri.Form.ASTERISK) {
            return null;
        }
        return TargetUri.parseAbsolute(mapped.rule().urlOf(client)) instanceof TargetUri origin ? origin : null;
    }

    private @Nullable RemapRule find(TargetUri url, TargetUri client) {
        HostIndex rulesOfClient = byClient.get(client.scheme() + "://" + client.host());
        RemapResult found = rulesOfClient == null ? NotMapped.NO_RULE : rulesOfClient.match(url, url.port());
        if (!(found instanceof Mapped)) {
            found = allRules.match(url, url.port());
        }
        return found instanceof Mapped mapped ? mapped.rule() : null;
    }

    /**
     * Returns the replacement of a URL in a response; null for no change. A path without a host refers to the
     * origin's host. The replacement is a path if the rule leads to the client's own host, and a complete URL if the
     * rule leads to another host.
     */
    private @Nullable String url(String reference, TargetUri client, TargetUri origin) {
        int fragment = reference.indexOf('#');
        String text = fragment < 0 ? reference : reference.substring(0, fragment);
        boolean isPath = text.startsWith("/") && !text.startsWith("//");
        boolean hasHost = text.startsWith("//") || (text.regionMatches(true, 0, "http", 0, 4) && text.contains("://"));
        if (!isPath && !hasHost) {
            return null;
        }
        TargetUri resolved = isPath
                ? parse(origin.scheme() + "://" + origin.authority() + text)
                : parse(text.startsWith("//") ? origin.scheme() + ":" + text : text);
        RemapRule rule = resolved == null ? null : find(resolved, client);
        if (resolved == null || rule == null) {
            return null;
        }
        String fragmentText = fragment < 0 ? "" : reference.substring(fragment);
        String urlForClient = rule.urlOf(resolved);
        if (!isPath) {
            return urlForClient + fragmentText;
        }
        TargetUri target = parse(urlForClient);
        String pathForClient = UriBytes.encoded(rule.originTarget(resolved));
        // Prevents an open redirect: a client parses the text after two slashes as a host (RFC 3986 s4.2). An attacker
        // could choose this host if the origin copies text from a request into the path.
        boolean isPathEnough = target != null && target.isSameOrigin(client) && !pathForClient.startsWith("//");
        String result = isPathEnough ? pathForClient : urlForClient;
        return result.equals(text) ? null : result + fragmentText;
    }

    private static @Nullable TargetUri parse(String url) {
        String safe = UriBytes.encoded(url.getBytes(StandardCharsets.ISO_8859_1));
        return TargetUri.parseAbsolute(safe) instanceof TargetUri target ? target : null;
    }
}
