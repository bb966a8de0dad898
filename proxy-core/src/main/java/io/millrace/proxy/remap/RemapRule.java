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
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One compiled remap rule. Determines the origin, the cache key and the URL of the origin request for the URLs that it
 * matches. Immutable.
 */
public final class RemapRule {
    /** Begins the part of cache keys that names a branch of a canary split. */
    public static final String BRANCH_KEY = " branch=";

    private static final byte[] ASTERISK = {'*'};

    private final RemapRuleConfig config;
    private final RuleUrl to;
    /** The target URL of the rule, for cache keys. Only the keys of rules with {@code cache.key.host} contain it. */
    private final RuleUrl keyTo;

    private final @Nullable Pattern hostPattern;
    private final RemapResult result;
    /** The branch of a canary split to which the rule belongs; null for none. */
    private final @Nullable Branch branch;

    private final byte[] fromPath;
    private final byte[] toPath;
    /** The query of {@code to} with its question mark; empty for none. */
    private final byte[] toQuery;

    private final String originScheme;
    private final String originHost;
    private final String originAuthority;
    private final KeyRules keyRules;
    private final boolean hasPlainKeys;
    private final byte[] keySuffix;
    private final boolean checksDotSegments;
    private final String redirectReason;
    private final @Nullable RefererRules referers;

    /**
     * A branch of a canary split.
     *
     * @param hasOrigin whether the branch has an origin of its own, which replaces group and Unix socket of the rule
     * @param origins name of the origin group; null for none
     * @param keyPart end of the cache keys; empty to share stored responses with the rule's origin
     */
    private record Branch(boolean hasOrigin, @Nullable String origins, String keyPart) {}

    RemapRule(RemapRuleConfig config) {
        this(config, config.to(), config.verb().isRegex() ? config.hostPattern() : null);
    }

    private RemapRule(RemapRuleConfig config, RuleUrl to, @Nullable Pattern hostPattern) {
        this(config, to, to, hostPattern, null);
    }

    /** @param keyTo the target URL for cache keys; only the keys of rules with {@code cache.key.host} contain it */
    private RemapRule(
            RemapRuleConfig config, RuleUrl to, RuleUrl keyTo, @Nullable Pattern hostPattern, @Nullable Branch branch) {
        this.config = config;
        this.to = to;
        this.branch = branch;
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
        hasPlainKeys = keyRules.isUnchanged();
        String keyPart = branch == null ? "" : branch.keyPart();
        keySuffix = (keySuffix(config, keyTo, keyRules) + keyPart).getBytes(StandardCharsets.ISO_8859_1);
        this.keyTo = keyTo;
        // A reverse rule always checks dot segments: a URL in a response that leaves the rule's path belongs to another
        // resource.
        checksDotSegments = toPath.length > 1 || config.verb() == RemapVerb.REVERSE_MAP;
        RefererConfig refererConfig = config.referers();
        referers = refererConfig == null ? null : new RefererRules(this, refererConfig);
        redirectReason = config.verb().isRedirect() ? "redirect:remap[" + config.index() + "]" : "";
        result = config.verb().isRedirect() ? new Redirected(this) : new Mapped(this);
    }

    /**
     * Returns the rule for a host that its expression matches. Captured groups replace {@code $0} to {@code $9}.
     *
     * @param host in lower case
     * @return null if the expression does not match, or if the resulting URL has no host
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

    /** Returns the rule for a host chosen by the client; see {@link ForwardedHosts}. */
    Mapped forwardedTo(RuleUrl url) {
        return new Mapped(new RemapRule(config, url, null));
    }

    /**
     * Returns the rule with another origin. Cache keys and the path for the origin stay the same.
     *
     * @param host in lower case, an IPv6 address in brackets
     * @param port -1 for the default of the scheme
     */
    public Mapped leadingTo(String scheme, String host, int port) {
        return new Mapped(
                new RemapRule(config, new RuleUrl(scheme, host, port, to.path(), to.query()), keyTo, null, branch));
    }

    /**
     * Returns the rule with the origin of a branch of a canary split. The path for the origin stays the same.
     *
     * @param name name of the branch
     * @param origin scheme, host and port; null if the branch has a group
     * @param group name of the origin group; null for none
     * @param isSeparate whether the cache keys contain the name of the branch
     */
    public Mapped branch(String name, @Nullable RuleUrl origin, @Nullable String group, boolean isSeparate) {
        RuleUrl target =
                origin == null ? to : new RuleUrl(origin.scheme(), origin.host(), origin.port(), to.path(), to.query());
        Branch newBranch = new Branch(origin != null, group, isSeparate ? BRANCH_KEY + name : "");
        return new Mapped(new RemapRule(config, target, keyTo, null, newBranch));
    }

    /** The name of the origin group for connections; null for the host of the rule. */
    @Nullable
    String originGroup() {
        return branch == null ? config.origins() : branch.origins();
    }

    /** The Unix domain socket of the origin; null for TCP. */
    public @Nullable Path unixSocket() {
        return branch != null && branch.hasOrigin() ? null : config.unixSocket();
    }

    /** Returns true if the rule leads to the URL's own scheme, host and port. */
    boolean leadsTo(TargetUri url) {
        return to.isSecure() == url.isSecure()
                && to.effectivePort() == url.port()
                && url.host().equals(to.host());
    }

    /** Returns true for the rule of the forward proxy. Its requests go to the host that the client chose. */
    public boolean isForwarding() {
        return config.isForwarding();
    }

    /** The result for URLs that the rule matches. */
    RemapResult result() {
        return result;
    }

    /** The path that the rule matches, in normalized form. */
    byte[] fromPath() {
        return fromPath;
    }

    /**
     * Returns true if the rule may map URLs of a host.
     *
     * @param hostlessRulesApply whether rules without a host apply to some URLs of the host
     */
    boolean isForHost(String host, boolean hostlessRulesApply) {
        String named = config.from().host();
        if (!config.verb().isForward() || config.from().isWebSocket()) {
            return false;
        }
        if (hostPattern != null) {
            return hostPattern.matcher(host).matches();
        }
        return named == null ? hostlessRulesApply : named.equals(host);
    }

    /**
     * Returns a mapped host as it occurs in the URLs of clients: with the rule's port, or without a port if the rule
     * has none or the default port of its scheme. For a rule that applies to a received port (the local port of the
     * client's connection), returns the host with and without the port, because clients may send both.
     */
    public List<String> authorities(String host) {
        int port = config.from().port();
        if (config.from().host() == null || port < 0 || port == defaultPort()) {
            return List.of(host);
        }
        String withPort = host + ":" + port;
        return isByReceivedPort() ? List.of(host, withPort) : List.of(withPort);
    }

    /** Returns true if the rule may map the port of a URL whose host it maps. */
    public boolean mapsPortOf(TargetUri url) {
        int port = config.from().port();
        return config.from().host() == null
                || port < 0
                || isByReceivedPort()
                || (port == defaultPort() ? url.isDefaultPort() : port == url.port());
    }

    private boolean isByReceivedPort() {
        return config.verb().group() == RemapVerb.Group.RECEIVED_PORT;
    }

    private int defaultPort() {
        return config.from().isSecure() ? 443 : 80;
    }

    /** The configuration of the rule. */
    public RemapRuleConfig config() {
        return config;
    }

    /** Position of the rule in the configuration, from 0. */
    public int index() {
        return config.index();
    }

    /** The protocols to which a client's connection may be upgraded, in lower case; empty for none. */
    public List<String> upgrade() {
        return config.upgrade();
    }

    /** The conditions on the Referer of requests; null for none. */
    public @Nullable RefererRules referers() {
        return referers;
    }

    /** Returns the URL that a target is mapped to. Bytes not allowed in URLs are percent-encoded. */
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

    /** The host, with the port if it is not the scheme's default, as in URLs and Host fields. */
    String originAuthority() {
        return originAuthority;
    }

    /** The lower-case name or address of the origin, an IPv6 address without brackets. */
    public String originHost() {
        return originHost;
    }

    /** Returns true if {@code to} has an explicit port, not only a scheme. */
    public boolean namesPort() {
        return to.port() >= 0;
    }

    /** The port of the origin, 1 to 65535. */
    public int originPort() {
        return to.effectivePort();
    }

    /** All cache settings of this rule. {@link CacheRules} may change them for a request. */
    public CacheConfig cache() {
        return config.cache();
    }

    /**
     * Returns the part of this rule's cache keys that follows the URL. Responses that have the same URL but must not be
     * mixed get different suffixes. These are responses for different cache generations or received ports, and
     * responses of remap rules and of the forward proxy. Rules with a common key host get different suffixes if their
     * origin requests differ.
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

    /**
     * Returns the URL from which the cache key of a client's URL is made. Returns the same object unless the rule has
     * settings for keys.
     */
    public TargetUri keyUrl(TargetUri target) {
        return hasPlainKeys ? target : keyRules.keyUrl(target);
    }

    /**
     * Returns the URL requested from the origin if the response may be stored. This is the key's URL, unless the
     * rule specifies otherwise.
     */
    public TargetUri originUrl(TargetUri target, TargetUri keyUrl) {
        return keyRules.originUrl(target, keyUrl);
    }

    /** Returns the primary key for the URL from {@link #keyUrl}. */
    public CacheKey keyOf(TargetUri keyUrl) {
        return CacheKey.of(keyUrl, keySuffix);
    }

    /**
     * Returns the primary key for the URL from {@link #keyUrl}, with the parts that extensions add.
     *
     * @param parts each begins with a space, which no URL contains; borrowed
     */
    public CacheKey keyOf(TargetUri keyUrl, byte[] parts) {
        byte[] suffix = Arrays.copyOf(keySuffix, keySuffix.length + parts.length);
        System.arraycopy(parts, 0, suffix, keySuffix.length, parts.length);
        return CacheKey.of(keyUrl, suffix);
    }

    /**
     * Returns the request target for the origin. Its path is the path of the rule's {@code to} and the client's
     * path after the matched part. Its query is the query of {@code to} and the client's query. The path is in the
     * normalized form of cache keys, because two spellings with the same key must cause the same origin
     * request. The client's query is unchanged. Exactly one slash joins the two paths, if the matched part ended with a
     * slash or the remaining path begins with one.
     *
     * @param target a URL that this rule matches
     */
    public byte[] originTarget(TargetUri target) {
        if (target.form() == TargetUri.Form.ASTERISK) {
            return ASTERISK;
        }
        byte[] bytes = target.targetBytes();
        int restStart = target.pathStart();
        int pathEnd = target.pathEnd();
        int queryStart = pathEnd;
        int queryEnd = target.queryEnd();
        if (UriBytes.hasEncodingsToNormalize(bytes, restStart, pathEnd)) {
            byte[] normal = new byte[queryEnd - restStart];
            pathEnd = UriBytes.normalizePath(bytes, restStart, pathEnd, normal, 0);
            System.arraycopy(bytes, queryStart, normal, pathEnd, queryEnd - queryStart);
            queryEnd = pathEnd + queryEnd - queryStart;
            bytes = normal;
            restStart = 0;
        }
        restStart = Math.min(pathEnd, restStart + fromPath.length);
        int pathLength = pathEnd - restStart;
        boolean endsWithSlash = toPath[toPath.length - 1] == '/';
        boolean needsSlash = !endsWithSlash && fromPath[fromPath.length - 1] == '/' && pathLength > 0;
        if (endsWithSlash && fromPath[fromPath.length - 1] != '/' && pathLength > 0 && bytes[restStart] == '/') {
            restStart++;
        }
        int prefix = toPath.length + (needsSlash ? 1 : 0);
        byte[] out = new byte[prefix + queryEnd - restStart];
        System.arraycopy(toPath, 0, out, 0, toPath.length);
        if (needsSlash) {
            out[toPath.length] = '/';
        }
        System.arraycopy(bytes, restStart, out, prefix, queryEnd - restStart);
        return toQuery.length == 0 ? out : withQuery(out, prefix + pathEnd - restStart);
    }

    /** Inserts the query of {@code to} before the client's query, which may be empty. */
    private byte[] withQuery(byte[] target, int queryStart) {
        boolean hasClientQuery = target.length > queryStart + 1;
        int clientQueryBytes = hasClientQuery ? target.length - queryStart : 0;
        byte[] out = new byte[queryStart + toQuery.length + clientQueryBytes];
        System.arraycopy(target, 0, out, 0, queryStart);
        System.arraycopy(toQuery, 0, out, queryStart, toQuery.length);
        if (hasClientQuery) {
            int at = queryStart + toQuery.length;
            System.arraycopy(target, queryStart, out, at, clientQueryBytes);
            out[at] = '&';
        }
        return out;
    }

    /**
     * Returns the complete URL requested from the origin. For a target in asterisk form, which has no path,
     * returns only scheme and authority (RFC 9112 s3.2.4).
     */
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
     * Returns the Host field of the origin request: the host of the rule's {@code to}. With {@code pristine_host_hdr},
     * returns the host that the client sent, if any.
     */
    public String hostField(TargetUri target) {
        return config.pristineHostHdr() && target.hostBytes().length > 0 ? target.authority() : originAuthority;
    }

    /**
     * Returns true if dot segments in the path would lead out of the rule's {@code to} path. If {@code to} is the
     * root of the origin, no path can leave it.
     */
    boolean leavesTarget(byte[] bytes, int from, int to) {
        if (!checksDotSegments) {
            return false;
        }
        int rest = restStart(bytes, from, to);
        boolean atSegmentStart = fromPath[fromPath.length - 1] == '/' || toPath[toPath.length - 1] == '/';
        return PathBytes.leadsAboveStart(bytes, rest, to, atSegmentStart);
    }

    private int restStart(byte[] bytes, int from, int to) {
        return PathBytes.skip(bytes, from, to, fromPath.length);
    }

    /** Returns the rule as written in the configuration, with its file and line. */
    @Override
    public String toString() {
        String location = config.location();
        return location == null ? config.toString() : config + " (" + location + ")";
    }
}
