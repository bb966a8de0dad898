package io.millrace.proxy.access.token;

import io.millrace.proxy.config.guard.TokenConfig;
import io.millrace.proxy.config.guard.TokenKeySet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jose4j.http.Get;
import org.jose4j.jwk.HttpsJwks;
import org.jose4j.keys.resolvers.HttpsJwksVerificationKeyResolver;
import org.jose4j.keys.resolvers.JwksVerificationKeyResolver;
import org.jose4j.keys.resolvers.VerificationKeyResolver;

/**
 * The key sets of issuers that have a URL. They are fetched when they are needed, kept as long as their Cache-Control
 * says (without it five minutes), and for four hours more while the issuer cannot be reached. A token with an unknown
 * key fetches the set again, at most every 30 seconds.
 *
 * <p>Thread-safe. {@link #resolver} does not block, but its result does.
 */
final class IssuerKeys {
    private static final int URLS_MAX = 256;
    private static final int CONNECT_MILLIS = 2000;
    private static final int READ_MILLIS = 3000;
    private static final int BYTES_MAX = 512 * 1024;
    private static final long CACHED_SECONDS = 300;
    private static final long KEPT_SECONDS = TimeUnit.HOURS.toSeconds(4);
    private static final long FETCH_INTERVAL_MILLIS = TimeUnit.SECONDS.toMillis(30);

    private final Map<String, HttpsJwks> byUrl = new ConcurrentHashMap<>();

    VerificationKeyResolver resolver(TokenConfig needed) {
        TokenKeySet file = needed.keys();
        if (file != null) {
            return new JwksVerificationKeyResolver(file.keys());
        }
        if (byUrl.size() >= URLS_MAX) {
            // Configurations since the start have named many URLs. The present ones are fetched again.
            byUrl.clear();
        }
        String url = needed.keysUrl();
        if (url == null) {
            throw new IllegalStateException("neither jwt.keys_file nor jwt.keys_url");
        }
        return new HttpsJwksVerificationKeyResolver(byUrl.computeIfAbsent(url, IssuerKeys::jwks));
    }

    private static HttpsJwks jwks(String url) {
        Get get = new Get();
        get.setConnectTimeout(CONNECT_MILLIS);
        get.setReadTimeout(READ_MILLIS);
        get.setRetries(0);
        get.setResponseBodySizeLimit(BYTES_MAX);
        HttpsJwks jwks = new HttpsJwks(url);
        jwks.setSimpleHttpGet(get);
        jwks.setDefaultCacheDuration(CACHED_SECONDS);
        jwks.setRetainCacheOnErrorDuration(KEPT_SECONDS);
        jwks.setRefreshReprieveThreshold(FETCH_INTERVAL_MILLIS);
        return jwks;
    }
}
