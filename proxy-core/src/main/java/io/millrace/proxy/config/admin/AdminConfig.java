package io.millrace.proxy.config.admin;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.value.ListenAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Addresses and rights of the admin API. Immutable.
 *
 * @param socket Unix socket, absolute; null if the code that starts the proxy chooses it
 * @param listen TCP address besides the socket; null for none
 * @param tokenFile file with a token that has every right; null for none
 * @param tokens tokens with limited rights
 * @param tls TLS on {@code listen}; null for clear text
 * @param checkIntervalNanos time between checks of token and TLS files for changes
 */
public record AdminConfig(
        @Nullable Path socket,
        @Nullable ListenAddress listen,
        @Nullable Path tokenFile,
        List<Token> tokens,
        @Nullable Tls tls,
        long checkIntervalNanos) {
    /** Name of the token in {@code admin.token_file}. */
    public static final String TOKEN_FILE_NAME = "admin";

    /** Name of the sessions that {@code millctl dashboard} opens. No token may have this name. */
    public static final String DASHBOARD_NAME = "dashboard";

    /**
     * A token of the admin API and its rights. Immutable.
     *
     * @param name unique
     * @param file its first line is the token
     * @param sites in lower case; empty for every site
     * @param kinds kinds of purges; empty for every kind
     * @param requestsPerMinute 0 for no limit
     */
    public record Token(
            String name, Path file, AdminRole role, Set<String> sites, Set<String> kinds, int requestsPerMinute) {
        public static Token from(ConfigValues element) {
            Integer rate = element.find(AdminKeys.TOKEN_RATE);
            return new Token(
                    element.get(AdminKeys.TOKEN_NAME),
                    element.get(AdminKeys.TOKEN_SECRET),
                    element.get(AdminKeys.TOKEN_ROLE),
                    words(element.find(AdminKeys.TOKEN_SITES)),
                    words(element.find(AdminKeys.TOKEN_KINDS)),
                    rate == null ? 0 : rate);
        }

        private static Set<String> words(@Nullable List<String> list) {
            return list == null
                    ? Set.of()
                    : list.stream().map(word -> word.toLowerCase(Locale.ROOT)).collect(Collectors.toUnmodifiableSet());
        }

        /** Returns the rights of sessions that {@code millctl dashboard} opens. They have no file. */
        public static Token ofDashboard() {
            return new Token(DASHBOARD_NAME, Path.of(""), AdminRole.OPERATOR, Set.of(), Set.of(), 0);
        }

        /** Returns the token of {@code admin.token_file}. */
        static Token ofFile(Path file) {
            return new Token(TOKEN_FILE_NAME, file, AdminRole.OPERATOR, Set.of(), Set.of(), 0);
        }
    }

    /**
     * TLS on the TCP address. Immutable.
     *
     * @param caFile authorities of client certificates; null if clients need none
     * @param crlFile revocation lists of these authorities; null for none
     */
    public record Tls(
            Path certificate,
            Path key,
            @Nullable Path caFile,
            @Nullable Path crlFile) {}

    public static AdminConfig from(ConfigValues values) {
        Path certificate = values.find(AdminKeys.CERTIFICATE);
        Path key = values.find(AdminKeys.KEY);
        return new AdminConfig(
                values.find(ConfigKeys.ADMIN_SOCKET),
                values.find(ConfigKeys.ADMIN_LISTEN),
                values.find(AdminKeys.TOKEN_FILE),
                values.elements(AdminKeys.TOKENS).stream().map(Token::from).toList(),
                certificate == null || key == null
                        ? null
                        : new Tls(certificate, key, values.find(AdminKeys.CA_FILE), values.find(AdminKeys.CRL_FILE)),
                values.get(SharedTlsKeys.CHECK_INTERVAL).toNanos());
    }

    /** Returns every token, that of {@code admin.token_file} first. */
    public List<Token> allTokens() {
        return tokenFile == null
                ? tokens
                : Stream.concat(Stream.of(Token.ofFile(tokenFile)), tokens.stream())
                        .toList();
    }
}
