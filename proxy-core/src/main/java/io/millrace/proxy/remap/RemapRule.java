package io.millrace.proxy.remap;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import io.millrace.proxy.caching.KeyRules;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.config.cache.CacheConfig;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.RefererConfig;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One rule, ready for use: where it leads, and what reaches the origin. Immutable. */
public final class RemapRule {
    private static final byte[] ASTERISK = {'*'};

    private final RemapRuleConfig config;
    private final RuleUrl to;
    private final @Nullable Pattern hostPattern;
    private final RemapResult result;
    private final byte[] fromPath;
    private final byte[] toPath;
    /** With its question mark; empty for none. */
    private final byte[] toQuery;

    private final String originScheme;
    private final String originHost;
    private final String originAuthority;
    private final KeyRules keyRules;
    private final boolean hasPlainKeys;
    private final byte[] keySuffix;
    private final boolean mayBeLeft;
    private final String redirectReason;
    private final @Nullable RefererRules referers;

    RemapRule(RemapRuleConfig config) {
        this(config, config.to(), config.verb().isRegex() ? config.hostPattern() : null);
    }

    private RemapRule(RemapRuleConfig config, RuleUrl to, @Nullable Pattern hostPattern) {
        this.config = config;
        this.to = to;
        this.hostPattern = hostPattern;
        fromPath = PathBytes.normalize(config.from().path().getBytes(StandardCharsets.ISO_8859_1));
        toPath = to.path().getBytes(StandardCharsets.ISO_8859_1);
        toQuery = (to.query() == null ? "" : "?" + to.query()).getBytes(StandardCharsets.ISO_8859_1);
        originScheme = to.isSecure() ? "https" : "http";
        String host = Objects.requireNonNull(to.host(), "host");
        originHost = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        boolean defaultPort = to.effectivePort() == (originScheme.equals("https") ? 443 : 80);
        originAuthority = defaultPort ? host : host + ":" + to.effectivePort();
        keyRules = config.cache().settings().key();
        hasPlainKeys = keyRules.isPlain();
        keySuffix = keySuffix(config, to, keyRules).getBytes(StandardCharsets.ISO_8859_1);
        // An answer's URL that leads out of the rule is that of something else.
        mayBeLeft = toPath.length > 1 || config.verb() == RemapVerb.REVERSE_MAP;
        RefererConfig refererConfig = config.referers();
        referers = refererConfig == null ? null : new RefererRules(this, refererConfig);
        redirectReason = config.verb().isRedirect() ? "redirect:remap[" + config.index() + "]" : "";
        result = config.verb().isRedirect() ? new Redirected(this) : new Mapped(this);
    }

    /**
     * The rule for a host that its expression matches, with what that found in place of {@code $0} to {@code $9}.
     *
     * @param host in lower case
     * @return null when it does not match, or leads to no host then
     */
    @Nullable
    RemapRule expanded(String host) {
        Matcher found = Objects.requireNonNull(hostPattern, "hostPattern").matcher(host);
        RuleUrl expanded = found.matches() ? to.expand(found) : null;
        if (expanded == null) {
            return null;
        }
        return expanded.equals(to) ? this : new RemapRule(config, expanded, hostPattern);
    }

    /** The rule for one of the hosts that clients name themselves; see {@link ForwardedHosts}. */
    Mapped forwardedTo(RuleUrl url) {
        return new Mapped(new RemapRule(config, url, null));
    }

    /** Whether it leads to the URL's own scheme, host and port. */
    boolean leadsTo(TargetUri url) {
        return to.isSecure() == url.isSecure()
                && to.effectivePort() == url.port()
                && url.host().equals(to.host());
    }

    /** Whether it is no rule of an operator's, but leads where the client says. */
    public boolean isForwarding() {
        return config.isForwarding();
    }

    /** What it says about URLs that it matches. */
    RemapResult result() {
        return result;
    }

    /** What it matches, in normal form. */
    byte[] fromPath() {
        return fromPath;
    }

    /**
     * Whether it may map URLs of a host.
     *
     * @param leftOver whether some are left to rules without a host
     */
    boolean isForHost(String host, boolean leftOver) {
        String named = config.from().host();
        if (!config.verb().isForward() || config.from().isWebSocket()) {
            return false;
        }
        if (hostPattern != null) {
            return hostPattern.matcher(host).matches();
        }
        return named == null ? leftOver : named.equals(host);
    }

    /** As it was configured. */
    public RemapRuleConfig config() {
        return config;
    }

    /** Place among the rules, from 0. */
    public int index() {
        return config.index();
    }

    /** The protocols that a client's connection may switch to, in lower case; empty for none. */
    public List<String> upgrade() {
        return config.upgrade();
    }

    /** Which pages may link to what it matches; null when that does not matter. */
    public @Nullable RefererRules referers() {
        return referers;
    }

    /** The URL that a target becomes; bytes that no URL has are percent-encoded. */
    String urlOf(TargetUri target) {
        return originScheme + "://" + originAuthority + UriBytes.encoded(originTarget(target));
    }

    String redirectReason() {
        return redirectReason;
    }

    /** {@code http} or {@code https}. */
    public String originScheme() {
        return originScheme;
    }

    /** Host, and port where it is not the scheme's own, as URLs and Host fields have them. */
    String originAuthority() {
        return originAuthority;
    }

    /** Lower-case name or address of the origin, an IPv6 address without brackets. */
    public String originHost() {
        return originHost;
    }

    /** Whether {@code to} says which port it is, and not the scheme alone. */
    public boolean namesPort() {
        return to.port() >= 0;
    }

    /** 1 to 65535. */
    public int originPort() {
        return to.effectivePort();
    }

    /** All cache settings of this rule; what holds for a request, {@link CacheRules} say. */
    public CacheConfig cache() {
        return config.cache();
    }

    /**
     * What stands in keys of this rule besides the URL. One URL may arrive on several ports, and be another resource on each. What a rule has stored is not for everybody who is forwarded once the
     * rule is gone, nor what was forwarded for a rule that comes. Rules whose hosts go by one name share a key only where they ask the
     * origin the same: otherwise one rule's answers would be served under another.
     */
    private static String keySuffix(RemapRuleConfig config, RuleUrl to, KeyRules rules) {
        String suffix = rules.generation() < 0 ? "" : " generation=" + rules.generation();
        if (config.isForwarding()) {
            suffix += " forwarded";
        }
        if (config.verb().group() == RemapVerb.Group.RECEIVED_PORT) {
            suffix += " recv_port=" + config.from().port();
        }
        return rules.host() == null
                ? suffix
                : suffix + " map=" + config.from().path() + " to=" + to
                        + (config.pristineHostHdr() ? " pristine" : "")
                        + (rules.sendsWholeQuery() ? " whole-query" : "");
    }

    /** The URL that a client's URL is stored for: the same instance unless the rule makes keys of its own. */
    public TargetUri keyUrl(TargetUri target) {
        return hasPlainKeys ? target : keyRules.keyUrl(target);
    }

    /** The URL that the origin is asked for when its answer may be stored: the key's, unless the rule says otherwise. */
    public TargetUri originUrl(TargetUri target, TargetUri keyUrl) {
        return keyRules.originUrl(target, keyUrl);
    }

    /** The primary key, given what {@link #keyUrl} made of the client's URL. */
    public CacheKey keyOf(TargetUri keyUrl) {
        return CacheKey.of(keyUrl, keySuffix);
    }

    /**
     * The request target that the origin receives: the path of the rule's {@code to}, what the client's path has beyond
     * the part that matched, in the normal form of cache keys, the query of {@code to} if it has one, and the client's query byte for byte. The normal form, since two
     * spellings that share a key must not be two questions to the origin. Where the matched part ended with a slash, or
     * the rest begins with one, exactly that slash stands between the two.
     *
     * @param target a URL that this rule was found for
     */
    public byte[] originTarget(TargetUri target) {
        if (target.form() == TargetUri.Form.ASTERISK) {
            return ASTERISK;
        }
        byte[] bytes = target.targetBytes();
        int rest = target.pathStart();
        int pathEnd = target.pathEnd();
        int queryStart = pathEnd;
        int queryEnd = target.queryEnd();
        if (UriBytes.hasEncodingsToNormalize(bytes, rest, pathEnd)) {
            byte[] normal = new byte[queryEnd - rest];
            pathEnd = UriBytes.normalizePath(bytes, rest, pathEnd, normal, 0);
            System.arraycopy(bytes, queryStart, normal, pathEnd, queryEnd - queryStart);
            queryEnd = pathEnd + queryEnd - queryStart;
            bytes = normal;
            rest = 0;
        }
        rest = Math.min(pathEnd, rest + fromPath.length);
        int pathLength = pathEnd - rest;
        boolean endsWithSlash = toPath[toPath.length - 1] == '/';
        boolean wantsSlash = !endsWithSlash && fromPath[fromPath.length - 1] == '/' && pathLength > 0;
        if (endsWithSlash && fromPath[fromPath.length - 1] != '/' && pathLength > 0 && bytes[rest] == '/') {
            rest++;
        }
        int prefix = toPath.length + (wantsSlash ? 1 : 0);
        byte[] out = new byte[prefix + queryEnd - rest];
        System.arraycopy(toPath, 0, out, 0, toPath.length);
        if (wantsSlash) {
            out[toPath.length] = '/';
        }
        System.arraycopy(bytes, rest, out, prefix, queryEnd - rest);
        return toQuery.length == 0 ? out : withQuery(out, prefix + pathEnd - rest);
    }

    /** With the query of {@code to} in front of the client's, which may be none. */
    private byte[] withQuery(byte[] target, int queryStart) {
        boolean joins = target.length > queryStart + 1;
        int rest = joins ? target.length - queryStart : 0;
        byte[] out = new byte[queryStart + toQuery.length + rest];
        System.arraycopy(target, 0, out, 0, queryStart);
        System.arraycopy(toQuery, 0, out, queryStart, toQuery.length);
        if (joins) {
            int at = queryStart + toQuery.length;
            System.arraycopy(target, queryStart, out, at, rest);
            out[at] = '&';
        }
        return out;
    }

    /** The whole URL that the origin is asked for: of a target without a path, the authority alone (RFC 9112 s3.2.4). */
    byte[] originUrlBytes(TargetUri target) {
        byte[] start = (originScheme + "://" + originAuthority).getBytes(StandardCharsets.ISO_8859_1);
        if (target.form() == TargetUri.Form.ASTERISK) {
            return start;
        }
        byte[] path = originTarget(target);
        byte[] whole = Arrays.copyOf(start, start.length + path.length);
        System.arraycopy(path, 0, whole, start.length, path.length);
        return whole;
    }

    /**
     * The Host field that the origin receives: the host of the rule's {@code to}, or the client's own where the rule says
     * {@code pristine_host_hdr} and the client sent one.
     */
    public String hostField(TargetUri target) {
        return config.pristineHostHdr() && target.hostBytes().length > 0 ? target.authority() : originAuthority;
    }

    /**
     * Whether the origin, resolving dot segments, would leave what the rule maps to. Where that is the origin's root
     * there is nothing to leave.
     */
    boolean isEscapedBy(byte[] bytes, int from, int to) {
        if (!mayBeLeft) {
            return false;
        }
        int rest = restStart(bytes, from, to);
        boolean atSegmentStart = fromPath[fromPath.length - 1] == '/' || toPath[toPath.length - 1] == '/';
        return PathBytes.climbs(bytes, rest, to, atSegmentStart);
    }

    private int restStart(byte[] bytes, int from, int to) {
        return PathBytes.skip(bytes, from, to, fromPath.length);
    }

    /** As it was written, and where. */
    @Override
    public String toString() {
        String location = config.location();
        return location == null ? config.toString() : config + " (" + location + ")";
    }
}
