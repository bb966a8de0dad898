package io.millrace.proxy.admin.access;

import io.millrace.proxy.config.admin.AdminConfig;
import io.millrace.proxy.tls.FileStamp;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tokens and the TLS context of the admin API over TCP. Both change when the configuration or one of their files
 * changes.
 *
 * <p>Thread-safe. Queries never block, but changes do.
 */
public final class AdminAccess {
    private static final Logger LOGGER = LoggerFactory.getLogger(AdminAccess.class);

    private final LongSupplier nanoTime;
    private final ReentrantLock changes = new ReentrantLock();
    private volatile State state;

    /**
     * The access in force. Immutable.
     *
     * @param stamps versions of the token files
     */
    private record State(
            AdminConfig config,
            List<AdminToken> tokens,
            Map<Path, FileStamp> stamps,
            @Nullable AdminTls tls) {}

    private AdminAccess(State state, LongSupplier nanoTime) {
        this.state = state;
        this.nanoTime = nanoTime;
    }

    /**
     * Reads the files of a configuration. Blocks.
     *
     * @throws IOException if a file cannot be used; the message names it
     */
    public static AdminAccess of(AdminConfig config) throws IOException {
        return of(config, System::nanoTime);
    }

    /** Like {@link #of(AdminConfig)}, with a clock such as {@link System#nanoTime} for the limits of requests. */
    public static AdminAccess of(AdminConfig config, LongSupplier nanoTime) throws IOException {
        Map<Path, FileStamp> stamps = stamps(config);
        List<AdminToken> tokens = new ArrayList<>();
        for (AdminConfig.Token token : config.allTokens()) {
            tokens.add(AdminToken.read(token, null, nanoTime));
        }
        AdminConfig.Tls tls = config.tls();
        return new AdminAccess(
                new State(config, List.copyOf(tokens), stamps, tls == null ? null : AdminTls.read(tls)), nanoTime);
    }

    /** Returns an access without tokens and TLS. */
    public static AdminAccess none() {
        AdminConfig config = new AdminConfig(null, null, null, List.of(), null, 0);
        return new AdminAccess(new State(config, List.of(), Map.of(), null), System::nanoTime);
    }

    /** Time between two calls of {@link #rereadChangedFiles}. */
    public long checkIntervalNanos() {
        return state.config().checkIntervalNanos();
    }

    private static Map<Path, FileStamp> stamps(AdminConfig config) {
        Map<Path, FileStamp> stamps = new HashMap<>();
        config.allTokens().forEach(token -> stamps.put(token.file(), FileStamp.of(token.file())));
        return stamps;
    }

    /**
     * Puts a changed configuration in force, and reads every file again. Blocks.
     *
     * @return the problems of files. A token with an unusable file keeps its previous secret, or is not accepted if it
     *     is new; unusable TLS files leave the previous TLS in force
     */
    public List<String> apply(AdminConfig config) {
        changes.lock();
        try {
            return reread(config);
        } finally {
            changes.unlock();
        }
    }

    private List<String> reread(AdminConfig config) {
        List<String> problems = new ArrayList<>();
        State before = state;
        Map<Path, FileStamp> stamps = stamps(config);
        List<AdminToken> tokens = new ArrayList<>();
        for (AdminConfig.Token token : config.allTokens()) {
            AdminToken read = read(token, before.tokens(), problems);
            if (read != null) {
                tokens.add(read);
            }
        }
        state = new State(config, List.copyOf(tokens), stamps, tls(config.tls(), before.tls(), problems));
        return problems;
    }

    private @Nullable AdminToken read(AdminConfig.Token token, List<AdminToken> before, List<String> problems) {
        AdminToken previous = before.stream()
                .filter(known -> known.name().equals(token.name()))
                .findFirst()
                .orElse(null);
        try {
            return AdminToken.read(token, previous, nanoTime);
        } catch (IOException e) {
            if (previous != null && previous.settings().file().equals(token.file())) {
                problems.add(
                        "token '" + token.name() + "': " + e.getMessage() + "; the token read before stays in use");
                return previous.with(token, nanoTime);
            }
            problems.add("token '" + token.name() + "': " + e.getMessage() + "; this token is not accepted");
            return null;
        }
    }

    private static @Nullable AdminTls tls(
            AdminConfig.@Nullable Tls settings, @Nullable AdminTls before, List<String> problems) {
        if (settings == null) {
            return null;
        }
        if (before != null && before.settings().equals(settings) && !before.isOutdated()) {
            return before;
        }
        try {
            return AdminTls.read(settings);
        } catch (IOException e) {
            problems.add(e.getMessage() + (before == null ? "" : "; the version read before stays in use"));
            return before;
        }
    }

    /** Reads files again if they have changed, and logs the result. Blocks. */
    public void rereadChangedFiles() {
        List<String> problems;
        changes.lock();
        try {
            State now = state;
            AdminTls tls = now.tls();
            boolean isTlsChanged = tls != null && tls.isOutdated();
            if (!isTlsChanged && now.stamps().equals(stamps(now.config()))) {
                return;
            }
            problems = reread(now.config());
        } finally {
            changes.unlock();
        }
        problems.forEach(problem -> LOGGER.error("admin API: {}", problem));
        if (problems.isEmpty()) {
            LOGGER.info("admin API: changed files of tokens and TLS are in use");
        }
    }

    /** Returns the token whose secret equals the credential; null if there is none. */
    public @Nullable AdminToken find(String credential) {
        byte[] digest = AdminToken.digest(credential);
        AdminToken found = null;
        for (AdminToken token : state.tokens()) {
            if (token.matches(digest)) {
                found = token;
            }
        }
        return found;
    }

    /** Returns the token of this name; null if there is none. */
    public @Nullable AdminToken named(@Nullable String name) {
        for (AdminToken token : state.tokens()) {
            if (token.name().equals(name)) {
                return token;
            }
        }
        return null;
    }

    /**
     * Returns the current version of a token. Its secret is the same, but its role and limits may have changed. Returns
     * null if the token was removed or replaced.
     */
    public @Nullable AdminToken inForce(AdminToken token) {
        if (token == AdminToken.OF_DASHBOARD) {
            return token;
        }
        for (AdminToken known : state.tokens()) {
            if (known.isSameAs(token)) {
                return known;
            }
        }
        return null;
    }

    /** Creates the TLS handler of a new connection, which owns it; null for clear text. */
    public @Nullable SslHandler newTlsHandler(ByteBufAllocator allocator, Duration handshakeTimeout) {
        AdminTls tls = state.tls();
        return tls == null ? null : tls.newHandler(allocator, handshakeTimeout);
    }
}
