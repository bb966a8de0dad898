package io.millrace.proxy.acme;

import io.millrace.proxy.config.tls.AcmeConfig;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers http-01 challenges with key authorizations (RFC 8555 section 8.3). It reads them from files at each request.
 *
 * <p>Thread-safe. One thread reads for all event loops, and ends when it is idle.
 */
public final class ChallengeAnswers {
    private static final Logger log = LoggerFactory.getLogger(ChallengeAnswers.class);

    /** Path prefix of the challenge requests of issuers. */
    public static final String PATH = "/.well-known/acme-challenge/";

    /**
     * Limit of queued reads; one more read runs. Further requests are sent to the origin, as for an unknown token.
     */
    private static final int READS_MAX = 256;

    private static final int ANSWER_BYTES_MAX = 4096;

    private static final int TOKEN_LENGTH_MAX = 128;

    private static final Executor READER = reader();

    private final Path tokens;

    ChallengeAnswers(Path tokens) {
        this.tokens = tokens;
    }

    /** Returns the answers for a configuration; null if it does not use http-01 challenges. */
    public static @Nullable ChallengeAnswers of(@Nullable AcmeConfig config) {
        AcmeFiles files = AcmeFiles.of(config);
        return files == null || config == null || config.challenge() != AcmeConfig.Challenge.HTTP_01
                ? null
                : new ChallengeAnswers(files.tokens());
    }

    private static ThreadPoolExecutor reader() {
        ThreadPoolExecutor reader = new ThreadPoolExecutor(
                1,
                1,
                10,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(READS_MAX),
                new DefaultThreadFactory("millrace-challenges", true));
        reader.allowCoreThreadTimeOut(true);
        return reader;
    }

    /**
     * Reads the answer to a challenge request in the background.
     *
     * @param path path of the request, which begins with {@link #PATH}
     * @param caller the event loop of the request, on which this method and, once, {@code callback} are called
     * @param callback receives the key authorization; null if the token is unknown
     */
    public void find(String path, Executor caller, Consumer<@Nullable String> callback) {
        String token = path.substring(PATH.length());
        if (!isToken(token)) {
            callback.accept(null);
            return;
        }
        try {
            READER.execute(() -> {
                String answer = read(tokens.resolve(token));
                caller.execute(() -> callback.accept(answer));
            });
        } catch (RejectedExecutionException e) {
            callback.accept(null);
        }
    }

    /**
     * Returns true if the text is a token in base64url (RFC 8555 section 8.3). A token cannot lead out of the
     * directory.
     */
    private static boolean isToken(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_')) {
                return false;
            }
        }
        return !text.isEmpty() && text.length() <= TOKEN_LENGTH_MAX;
    }

    private static @Nullable String read(Path file) {
        try {
            return Files.size(file) > ANSWER_BYTES_MAX
                    ? null
                    : Files.readString(file).strip();
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException | RuntimeException e) {
            log.warn("ACME: the challenge response {} cannot be read: {}", file, e.toString());
            return null;
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ChallengeAnswers that && tokens.equals(that.tokens);
    }

    @Override
    public int hashCode() {
        return tokens.hashCode();
    }
}
