package io.millrace.proxy.access.password;

import io.millrace.proxy.access.CredentialCheck;
import io.millrace.proxy.access.CredentialDigest;
import io.millrace.proxy.config.guard.PasswordFile;
import io.millrace.proxy.observe.FaultLog;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.bouncycastle.crypto.generators.OpenBSDBCrypt;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Compares passwords with their bcrypt hashes on a thread of its own, and remembers the results by a keyed digest. A
 * result is valid until the password file changes, because its content is a part of the digest.
 *
 * <p>Bounds: one thread, {@value #QUEUE_MAX} waiting requests, {@value #RESULTS_MAX} remembered results of each kind.
 * Thread-safe.
 */
public final class PasswordVerifier {
    /** Limit of requests that wait for a comparison. */
    static final int QUEUE_MAX = 256;

    /** Limit of remembered results; a new result replaces one whose digest has the same low bits. */
    static final int RESULTS_MAX = 1 << 13;

    private static final int SECRET_BYTES = 32;
    private static final int IDLE_SECONDS = 30;
    private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** The result of a comparison. */
    public enum Result implements CredentialCheck.Result {
        /** The user exists and has this password. */
        RIGHT,
        /** There is no such user, or the user has another password. */
        WRONG,
        /** Too many requests wait for a comparison, or it has failed by a fault of this program. */
        OVERLOADED
    }

    private final byte[] secret = new byte[SECRET_BYTES];
    // There are two tables, so that wrong passwords do not displace the results of right ones.
    private final AtomicReferenceArray<@Nullable CredentialDigest> right = new AtomicReferenceArray<>(RESULTS_MAX);
    private final AtomicReferenceArray<@Nullable CredentialDigest> wrong = new AtomicReferenceArray<>(RESULTS_MAX);
    private final FaultLog faults =
            new FaultLog(LoggerFactory.getLogger(PasswordVerifier.class), LOG_INTERVAL_NANOS, System::nanoTime);
    private final ThreadPoolExecutor thread = new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(QUEUE_MAX),
            new DefaultThreadFactory("millrace-passwords", true));

    /** Creates a verifier without results. Its thread starts with the first comparison, and ends when it is idle. */
    public PasswordVerifier() {
        new SecureRandom().nextBytes(secret);
        thread.allowCoreThreadTimeOut(true);
    }

    /**
     * Returns the key of the result for a value of Authorization.
     *
     * @param with the digest function of the calling thread
     */
    public CredentialDigest digest(MessageDigest with, PasswordFile file, byte[] bytes, int from, int to) {
        return CredentialDigest.of(with, secret, file.digest(), bytes, from, to);
    }

    /** Returns the remembered result; null if it is not known. */
    public @Nullable Result remembered(CredentialDigest digest) {
        int slot = (int) digest.low() & (RESULTS_MAX - 1);
        if (digest.equals(right.get(slot))) {
            return Result.RIGHT;
        }
        return digest.equals(wrong.get(slot)) ? Result.WRONG : null;
    }

    /**
     * Compares a password with the hash of its user, and remembers the result.
     *
     * @param loop the event loop on which {@code then} is called
     * @param then receives the result, once
     */
    public void verify(Credentials credentials, EventExecutor loop, Consumer<Result> then) {
        try {
            thread.execute(() -> {
                Result found = find(credentials);
                loop.execute(() -> then.accept(found));
            });
        } catch (RejectedExecutionException e) {
            loop.execute(() -> then.accept(Result.OVERLOADED));
        }
    }

    private Result find(Credentials credentials) {
        try {
            Result result = remembered(credentials.digest());
            return result == null ? compare(credentials) : result;
        } catch (RuntimeException | Error e) {
            faults.report("the comparison of a password has failed", e);
            return Result.OVERLOADED;
        }
    }

    private Result compare(Credentials credentials) {
        boolean equal = matches(credentials);
        int slot = (int) credentials.digest().low() & (RESULTS_MAX - 1);
        (equal ? right : wrong).set(slot, credentials.digest());
        return equal ? Result.RIGHT : Result.WRONG;
    }

    private static boolean matches(Credentials credentials) {
        String hash = credentials.file().hash(credentials.user());
        // An unknown user takes as long as a known one, so that the time does not reveal the names of users.
        String compared = hash == null ? credentials.file().anyHash() : hash;
        byte[] password = credentials.password().getBytes(StandardCharsets.UTF_8);
        if (password.length > PasswordFile.PASSWORD_MAX) {
            return false;
        }
        boolean equal =
                OpenBSDBCrypt.checkPassword(compared, credentials.password().toCharArray());
        return equal && hash != null;
    }
}
