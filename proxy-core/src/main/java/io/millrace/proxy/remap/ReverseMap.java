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
 * The rules of {@code reverse_map}: what origins' answers say of their own URLs is said of clients' URLs. What is stored stays as the
 * origin said it; each answer is changed for its client as it is sent, whether it comes from the origin or from the cache, so that
 * one stored response serves clients of several hosts and a new rule holds at once.
 *
 * <p>Of several rules for an origin's URL the first counts that leads to the client's own scheme and host, else the first. Immutable.
 */
public final class ReverseMap {
    private final HostIndex all;
    private final Map<String, HostIndex> byClient = new HashMap<>();
    private final boolean withCookies;

    private ReverseMap(List<RemapRule> rules) {
        all = new HostIndex(rules);
        withCookies = rules.stream().anyMatch(rule -> rule.config().rewriteSetCookie());
        rules.stream()
                .collect(Collectors.groupingBy(ReverseMap::clientOf))
                .forEach((client, own) -> byClient.put(client, new HostIndex(own)));
    }

    private static String clientOf(RemapRule rule) {
        return rule.config().to().scheme() + "://" + rule.config().to().host();
    }

    /** What a configuration says; null without such rules. */
    public static @Nullable ReverseMap of(ProxyConfig config) {
        List<RemapRule> rules = config.remap().stream()
                .filter(rule -> rule.verb() == RemapVerb.REVERSE_MAP)
                .map(RemapRule::new)
                .toList();
        return rules.isEmpty() ? null : new ReverseMap(rules);
    }

    /** An origin's head as the client is to see it; the same instance when nothing in it changes. */
    public ResponseHead toClient(ResponseHead head, TargetUri client, Mapped mapped) {
        FieldSection fields = head.fields();
        if (!isConcerned(fields)) {
            return head;
        }
        FieldSection changed = changed(fields, client, mapped);
        return changed == fields ? head : head.withFields(changed);
    }

    /** A stored head as the client is to see it; the same instance, without allocation, when it names no URL. */
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
        RemapRule cookieRule = withCookies ? find(origin, client) : null;
        boolean cookies = cookieRule != null && cookieRule.config().rewriteSetCookie();
        FieldSection.Builder changed = FieldSection.builderLike(fields);
        boolean any = false;
        for (int line = 0; line < fields.size(); line++) {
            String value = null;
            boolean location = fields.isNamed(line, FieldName.LOCATION);
            if (location || fields.isNamed(line, FieldName.CONTENT_LOCATION)) {
                value = url(fields.value(line), client, origin);
            } else if (cookieRule != null && cookies && fields.isNamed(line, FieldName.SET_COOKIE)) {
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

    /** The URL that the origin was, or would be, asked for. */
    private static @Nullable TargetUri originUrl(TargetUri client, Mapped mapped) {
        if (client.form() == TargetUri.Form.ASTERISK) {
            return null;
        }
        return TargetUri.parseAbsolute(mapped.rule().urlOf(client)) instanceof TargetUri origin ? origin : null;
    }

    private @Nullable RemapRule find(TargetUri url, TargetUri client) {
        HostIndex own = byClient.get(client.scheme() + "://" + client.host());
        RemapResult found = own == null ? NotMapped.NO_RULE : own.match(url, url.port());
        if (!(found instanceof Mapped)) {
            found = all.match(url, url.port());
        }
        return found instanceof Mapped mapped ? mapped.rule() : null;
    }

    /**
     * What a URL in an answer becomes; null when it stays as it is. A path without a host is the origin's, and becomes the client's
     * path where the rule leads back to the client's own host.
     */
    private @Nullable String url(String reference, TargetUri client, TargetUri origin) {
        int fragment = reference.indexOf('#');
        String text = fragment < 0 ? reference : reference.substring(0, fragment);
        boolean path = text.startsWith("/") && !text.startsWith("//");
        boolean whole = text.startsWith("//") || (text.regionMatches(true, 0, "http", 0, 4) && text.contains("://"));
        if (!path && !whole) {
            return null;
        }
        TargetUri meant = path
                ? parse(origin.scheme() + "://" + origin.authority() + text)
                : parse(text.startsWith("//") ? origin.scheme() + ":" + text : text);
        RemapRule rule = meant == null ? null : find(meant, client);
        if (meant == null || rule == null) {
            return null;
        }
        String rest = fragment < 0 ? "" : reference.substring(fragment);
        String becomes = rule.urlOf(meant);
        if (!path) {
            return becomes + rest;
        }
        TargetUri target = parse(becomes);
        String own = UriBytes.encoded(rule.originTarget(meant));
        // After two slashes a client reads a host (RFC 3986 s4.2), which whoever chose the path would have chosen.
        boolean isPath = target != null && target.isSameOrigin(client) && !own.startsWith("//");
        String result = isPath ? own : becomes;
        return result.equals(text) ? null : result + rest;
    }

    private static @Nullable TargetUri parse(String url) {
        String safe = UriBytes.encoded(url.getBytes(StandardCharsets.ISO_8859_1));
        return TargetUri.parseAbsolute(safe) instanceof TargetUri target ? target : null;
    }
}
