package io.millrace.proxy.access.token;

import io.millrace.proxy.config.guard.TokenConfig;
import io.millrace.proxy.config.guard.TokenKeySet;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jose4j.http.Get;
import org.jose4j.http.SimpleGet;
import org.jose4j.http.SimpleResponse;
import org.jose4j.jwk.HttpsJwks;
import org.jose4j.keys.resolvers.HttpsJwksVerificationKeyResolver;
import org.jose4j.keys.resolvers.JwksVerificationKeyResolver;
import org.jose4j.keys.resolvers.VerificationKeyResolver;

/**
 * The key sets that issuers publish at a URL. They are fetched when they are needed, kept as long as their
 * Cache-Control says (without it five minutes), and for four hours more while the issuer cannot be reached. A token
 * with an unknown key causes another fetch, at most every 30 seconds. After a failed fetch, no other fetch begins for 5
 * seconds.
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

    /** Time from a failed fetch to the next one. */
    static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Map<String, Issuer> byUrl = new ConcurrentHashMap<>();
    private final LongSupplier nanoTime;

    /** @param nanoTime the clock, like {@link System#nanoTime} */
    IssuerKeys(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** The keys at one URL, and the state of their fetch. */
    private static final class Issuer implements SimpleGet {
        private final Get get = new Get();
        private final LongSupplier nanoTime;
        private final HttpsJwks keys;
        private volatile boolean hasKeys;
        private volatile boolean failed;
        private volatile boolean fetching;
        private volatile long failedAtNanos;

        Issuer(String url, LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
            get.setConnectTimeout(CONNECT_MILLIS);
            get.setReadTimeout(READ_MILLIS);
            get.setRetries(0);
            get.setResponseBodySizeLimit(BYTES_MAX);
            keys = new HttpsJwks(url);
            keys.setSimpleHttpGet(this);
            keys.setDefaultCacheDuration(CACHED_SECONDS);
            keys.setRetainCacheOnErrorDuration(KEPT_SECONDS);
            keys.setRefreshReprieveThreshold(FETCH_INTERVAL_MILLIS);
        }

        /** Fetches the keys. Only one thread at a time gets here, since {@link HttpsJwks} has a lock. */
        @Override
        public SimpleResponse get(String location) throws IOException {
            if (isDelayed()) {
                throw new IOException("the last fetch failed less than 5 seconds ago");
            }
            fetching = true;
            try {
                SimpleResponse response = get.get(location);
                failed = false;
                hasKeys = true;
                return response;
            } catch (IOException | RuntimeException | Error e) {
                failedAtNanos = nanoTime.getAsLong();
                failed = true;
                throw e;
            } finally {
                fetching = false;
            }
        }

        private boolean isDelayed() {
            return failed && nanoTime.getAsLong() - failedAtNanos < RETRY_NANOS;
        }

        /** Returns true if there are no keys, the last fetch failed, and its retry is not due yet or is in progress. */
        boolean isUnavailable() {
            return !hasKeys && failed && (fetching || isDelayed());
        }
    }

    /**
     * Returns true if no fetch of the keys has succeeded, and a check would fail at once or wait for the retry of a
     * failed fetch. Never blocks.
     */
    boolean areUnavailable(TokenConfig requirements) {
        String url = requirements.keysUrl();
        Issuer issuer = requirements.keys() != null || url == null ? null : byUrl.get(url);
        return issuer != null && issuer.isUnavailable();
    }

    VerificationKeyResolver resolver(TokenConfig requirements) {
        TokenKeySet file = requirements.keys();
        if (file != null) {
            JwksVerificationKeyResolver resolver = new JwksVerificationKeyResolver(file.keys());
            // A token without the name of its key may fit several keys.
            resolver.setDisambiguateWithVerifySignature(true);
            return resolver;
        }
        if (byUrl.size() >= URLS_MAX) {
            // The map is full, because configurations since the start have named many URLs. The keys of the current
            // URLs are fetched again.
            byUrl.clear();
        }
        String url = requirements.keysUrl();
        if (url == null) {
            throw new IllegalStateException("jwt.keys_file or jwt.keys_url is required");
        }
        Issuer issuer = byUrl.computeIfAbsent(url, named -> new Issuer(named, nanoTime));
        HttpsJwksVerificationKeyResolver resolver = new HttpsJwksVerificationKeyResolver(issuer.keys);
        resolver.setDisambiguateWithVerifySignature(true);
        return resolver;
    }
}
