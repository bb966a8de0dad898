package io.millrace.proxy.access.token;

import io.millrace.proxy.access.CredentialDigest;
import io.millrace.proxy.config.guard.TokenConfig;
import io.millrace.proxy.observe.FaultLog;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Verifies JSON Web Tokens (RFC 7519) on threads of its own, and remembers the results by a keyed digest of token and
 * settings. A valid token is remembered until it expires, and at most five minutes, so that a key that the issuer
 * withdraws is not used for longer. A failed verification is remembered for 30 seconds.
 *
 * <p>Tokens whose keys come from a URL have threads of their own, which may wait for an issuer. So an issuer that does
 * not answer delays no token whose keys are in a file.
 *
 * <p>Bounds: {@value #FILE_THREADS} and {@value #URL_THREADS} threads, {@value #QUEUE_MAX} waiting requests of each
 * kind, {@value #RESULTS_MAX} remembered results of each kind. Thread-safe.
 */
public final class TokenVerifier {
    /** Threads for tokens whose keys are in a file. */
    static final int FILE_THREADS = 2;

    /** Threads for tokens whose keys come from a URL. Some of them may wait for the keys of issuers. */
    static final int URL_THREADS = 4;

    /** Limit of requests that wait for a verification. */
    static final int QUEUE_MAX = 256;

    /** Limit of remembered results; a new result replaces one whose digest has the same low bits. */
    static final int RESULTS_MAX = 1 << 13;

    private static final int SECRET_BYTES = 32;
    private static final int IDLE_SECONDS = 30;
    private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long VALID_MILLIS_MAX = TimeUnit.MINUTES.toMillis(5);
    private static final long FAULT_MILLIS = TimeUnit.SECONDS.toMillis(30);

    private record Remembered(CredentialDigest digest, TokenResult result, long untilMillis) {}

    private final byte[] secret = new byte[SECRET_BYTES];
    // There are two tables, so that invalid tokens do not displace the results of valid ones.
    private final AtomicReferenceArray<@Nullable Remembered> valid = new AtomicReferenceArray<>(RESULTS_MAX);
    private final AtomicReferenceArray<@Nullable Remembered> invalid = new AtomicReferenceArray<>(RESULTS_MAX);
    private final IssuerKeys keys;
    private final LongSupplier clockMillis;
    private final FaultLog faults =
            new FaultLog(LoggerFactory.getLogger(TokenVerifier.class), LOG_INTERVAL_NANOS, System::nanoTime);
    private final ThreadPoolExecutor withFiles = threads(FILE_THREADS, "millrace-tokens");
    private final ThreadPoolExecutor withUrls = threads(URL_THREADS, "millrace-token-keys");

    /** Creates a verifier without results. Its threads start with the first tokens, and end when they are idle. */
    public TokenVerifier() {
        this(System::currentTimeMillis, System::nanoTime);
    }

    TokenVerifier(LongSupplier clockMillis, LongSupplier nanoTime) {
        this.clockMillis = clockMillis;
        this.keys = new IssuerKeys(nanoTime);
        new SecureRandom().nextBytes(secret);
    }

    private static ThreadPoolExecutor threads(int number, String name) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                number,
                number,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(QUEUE_MAX),
                new DefaultThreadFactory(name, true));
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /**
     * Returns the digest under which the result for a token is remembered.
     *
     * @param with the digest function of the calling thread
     */
    public CredentialDigest digest(MessageDigest with, TokenConfig requirements, byte[] bytes, int from, int to) {
        return CredentialDigest.of(with, secret, requirements.digest(), bytes, from, to);
    }

    /** Returns the remembered result; null if none is known. */
    public @Nullable TokenResult remembered(CredentialDigest digest, long nowMillis) {
        int slot = (int) digest.low() & (RESULTS_MAX - 1);
        TokenResult result = of(valid.get(slot), digest, nowMillis);
        return result == null ? of(invalid.get(slot), digest, nowMillis) : result;
    }

    private static @Nullable TokenResult of(@Nullable Remembered known, CredentialDigest digest, long nowMillis) {
        return known != null && known.digest().equals(digest) && nowMillis < known.untilMillis()
                ? known.result()
                : null;
    }

    /**
     * Verifies a token, and remembers the result. A fault of this program counts as {@link
     * TokenResult#KEYS_UNAVAILABLE}, so that each request is answered.
     *
     * @param loop the event loop on which {@code then} is called
     * @param then receives the {@link TokenResult}, once
     */
    public void verify(
            String token,
            TokenConfig requirements,
            CredentialDigest digest,
            EventExecutor loop,
            Consumer<TokenResult> then) {
        if (keys.areUnavailable(requirements)) {
            loop.execute(() -> then.accept(TokenResult.KEYS_UNAVAILABLE));
            return;
        }
        try {
            (requirements.keys() == null ? withUrls : withFiles).execute(() -> {
                TokenResult result = verify(token, requirements, digest);
                loop.execute(() -> then.accept(result));
            });
        } catch (RejectedExecutionException e) {
            loop.execute(() -> then.accept(TokenResult.OVERLOADED));
        }
    }

    private TokenResult verify(String token, TokenConfig requirements, CredentialDigest digest) {
        try {
            long now = clockMillis.getAsLong();
            TokenResult known = remembered(digest, now);
            if (known != null) {
                return known;
            }
            return keys.areUnavailable(requirements)
                    ? TokenResult.KEYS_UNAVAILABLE
                    : verify(token, requirements, digest, now);
        } catch (RuntimeException | Error e) {
            faults.report("the verification of a token has failed", e);
            return TokenResult.KEYS_UNAVAILABLE;
        }
    }

    private TokenResult verify(String token, TokenConfig requirements, CredentialDigest digest, long nowMillis) {
        TokenCheck.Verdict verdict = TokenCheck.check(token, requirements, keys, nowMillis);
        int slot = (int) digest.low() & (RESULTS_MAX - 1);
        if (verdict.result() == TokenResult.VALID) {
            long until = Math.min(verdict.expiresAtMillis(), nowMillis + VALID_MILLIS_MAX);
            valid.set(slot, new Remembered(digest, TokenResult.VALID, until));
        } else if (verdict.result() != TokenResult.KEYS_UNAVAILABLE) {
            invalid.set(slot, new Remembered(digest, verdict.result(), nowMillis + FAULT_MILLIS));
        }
        return verdict.result();
    }
}
