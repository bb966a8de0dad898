package io.millrace.proxy.config.admin;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.observe.host.HostFigures;
import java.nio.file.Path;
import java.util.List;

/** Configuration keys for tokens and TLS of the admin API over TCP. */
public final class AdminKeys {
    public static final ConfigKey<Path> TOKEN_FILE = ConfigKey.builder("admin.token_file", ValueType.PATH)
            .description("File with a token that has every right on admin.listen.");

    public static final ConfigKey<List<ConfigValues>> TOKENS = ConfigKey.builder("admin.tokens", ValueType.LIST)
            .description("Tokens with limited rights on admin.listen, see docs/guide/operating.md.");
    public static final ConfigKey<String> TOKEN_NAME = ConfigKey.builder("admin.tokens[].name", ValueType.STRING)
            .required()
            .description("Name in logs and records of purges: letters, digits, '-', '_' and '.'.");
    public static final ConfigKey<Path> TOKEN_SECRET = ConfigKey.builder("admin.tokens[].file", ValueType.PATH)
            .required()
            .description("File with the token in its first line, at least 16 characters; read again when it changes.");
    public static final ConfigKey<AdminRole> TOKEN_ROLE = ConfigKey.builder(
                    "admin.tokens[].role", ValueType.word(AdminRole.class, false))
            .required()
            .description(
                    "viewer reads, purger purges its sites by its kinds, operator has every right. The admin API answers"
                            + " every other request with 403.");
    public static final ConfigKey<List<String>> TOKEN_SITES = ConfigKey.builder("admin.tokens[].sites", ValueType.NAMES)
            .description(
                    "For purger: sites that it may purge, as in remap[].site, or hosts of rules without it; without"
                            + " this key every site.");
    public static final ConfigKey<List<String>> TOKEN_KINDS = ConfigKey.builder("admin.tokens[].kinds", ValueType.NAMES)
            .description(
                    "For purger: kinds of purges that it may request: url, host, prefix, group, tag, pattern and all;"
                            + " without this key every kind.");
    public static final ConfigKey<Integer> TOKEN_RATE = ConfigKey.builder(
                    "admin.tokens[].requests_per_minute", ValueType.INTEGER)
            .within(1, 1_000_000)
            .description("Limit of requests with this token. This many may come at once, and the allowance refills"
                    + " evenly within a minute; further requests get 429. Without this key there is no limit.");

    public static final ConfigKey<Path> CERTIFICATE = ConfigKey.builder("admin.tls.certificate", ValueType.PATH)
            .description("PEM file with the certificate chain of admin.listen; with it the address speaks TLS only.");
    public static final ConfigKey<Path> KEY = ConfigKey.builder("admin.tls.key", ValueType.PATH)
            .description("PEM file with the private key of the certificate.");
    public static final ConfigKey<Path> CA_FILE = ConfigKey.builder("admin.tls.client_ca_file", ValueType.PATH)
            .description("PEM file of authorities; with it every client must present a certificate that one of them"
                    + " signed, besides its token.");
    public static final ConfigKey<Path> CRL_FILE = ConfigKey.builder("admin.tls.client_revocation_file", ValueType.PATH)
            .description("PEM file of revocation lists of these authorities, as tls.client_revocation_file.");

    public static final ConfigKey<Long> HISTORY = ConfigKey.builder("admin.history", ValueType.SIZE)
            .within(1L << 20, 20L << 20)
            .orZero()
            .defaultsTo(2L << 20)
            .description("Size of the file with figures of the past, for millctl history and the dashboard: every 10 s"
                    + " of the last hour, every minute of a day, and every 10 minutes of the rest (2 MiB: 29 days). 0"
                    + " turns this off.");
    public static final ConfigKey<Integer> HOSTS = ConfigKey.builder("admin.hosts", ValueType.INTEGER)
            .within(0, HostFigures.HOSTS_MAX)
            .defaultsTo(20)
            .description("Number of hosts with figures of their own in millctl traffic, the dashboard and the metrics"
                    + " millrace_host_*: those with most requests. All others are counted together. 0 turns this off.");

    private AdminKeys() {}

    /** Returns true for a list that limits a token, and must therefore not be empty. */
    public static boolean isLimit(ConfigKey<?> key) {
        return key == TOKEN_SITES || key == TOKEN_KINDS;
    }
}
