package io.millrace.proxy.remap;

import com.google.re2j.Pattern;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.config.value.AddressRange;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.UriBytes;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One compiled rule of the configuration list {@code cache_rules}. Cheap conditions are checked first, regular
 * expressions last. Expressions run in time linear in the length of the URL. Immutable.
 */
final class CacheRule {
    private static final byte[] NOTHING = {};

    private final CacheRuleConfig config;
    private final CacheRuleConfig.Conditions when;
    private final byte @Nullable [] host;
    private final byte @Nullable [] domain;
    private final byte[] prefix;
    private final byte[] suffix;
    private final @Nullable Pattern hostPattern;
    private final @Nullable Pattern urlPattern;

    CacheRule(CacheRuleConfig config) {
        this.config = config;
        when = config.when();
        host = when.host() == null ? null : ascii(when.host());
        // The domain "." contains every host.
        domain = when.domain() == null || when.domain().equals(".") ? null : ascii(when.domain());
        prefix = when.prefix() == null ? NOTHING : ascii(when.prefix());
        suffix = when.suffix() == null
                ? NOTHING
                : PathBytes.normalize(when.suffix().getBytes(StandardCharsets.UTF_8));
        hostPattern = when.hostRegex() == null ? null : Regex.compile(when.hostRegex());
        urlPattern = when.urlRegex() == null ? null : Regex.compile(when.urlRegex());
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    CacheRuleConfig config() {
        return config;
    }

    boolean dependsOnTime() {
        return when.time() != null;
    }

    /**
     * Returns true if the rule matches the request. Allocates only if the rule has an expression or the path has
     * percent-encodings.
     *
     * @param mapped the mapping of the request. URL expressions are matched with the URL of the cache key
     * @param client the client's address, null if unknown
     * @param minuteOfDay 0 to 1439
     */
    boolean matches(Mapped mapped, RequestHead request, @Nullable InetAddress client, int minuteOfDay) {
        TargetUri url = request.target();
        if (when.secure() != null && when.secure() != url.isSecure()) {
            return false;
        }
        if (when.port() != null && when.port() != url.port()) {
            return false;
        }
        if (!when.methods().isEmpty() && !when.methods().contains(request.methodName())) {
            return false;
        }
        if (when.time() != null && !when.time().contains(minuteOfDay)) {
            return false;
        }
        return isHost(url.hostBytes()) && isFrom(client) && isPath(url) && matchesExpressions(mapped, url);
    }

    private boolean isHost(byte[] requestedHost) {
        if (host != null && !Arrays.equals(requestedHost, host)) {
            return false;
        }
        if (domain == null) {
            return true;
        }
        int before = requestedHost.length - domain.length;
        return endsWith(requestedHost, 0, requestedHost.length, domain)
                && (before == 0 || requestedHost[before - 1] == '.');
    }

    private boolean isFrom(@Nullable InetAddress client) {
        if (when.sources().isEmpty()) {
            return true;
        }
        for (int i = 0; client != null && i < when.sources().size(); i++) {
            AddressRange range = when.sources().get(i);
            if (range.contains(client)) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if the normalized path matches. Paths with the same cache key therefore match the same rules. */
    private boolean isPath(TargetUri url) {
        if (prefix.length == 0 && suffix.length == 0) {
            return true;
        }
        byte[] bytes = url.targetBytes();
        int from = url.pathStart();
        int to = url.pathEnd();
        if (UriBytes.hasEncodingsToNormalize(bytes, from, to)) {
            byte[] normal = new byte[to - from];
            to = UriBytes.normalizePath(bytes, from, to, normal, 0);
            from = 0;
            bytes = normal;
        }
        return to - from >= prefix.length && isAt(bytes, from, prefix) && endsWith(bytes, from, to, suffix);
    }

    private boolean matchesExpressions(Mapped mapped, TargetUri url) {
        if (hostPattern != null && !hostPattern.matcher(url.hostBytes()).find()) {
            return false;
        }
        return urlPattern == null
                || urlPattern.matcher(CacheKey.of(mapped.keyUrl(url)).bytes()).find();
    }

    private static boolean endsWith(byte[] bytes, int from, int to, byte[] end) {
        return to - from >= end.length && isAt(bytes, to - end.length, end);
    }

    private static boolean isAt(byte[] bytes, int at, byte[] expected) {
        for (int i = 0; i < expected.length; i++) {
            if (bytes[at + i] != expected[i]) {
                return false;
            }
        }
        return true;
    }
}
