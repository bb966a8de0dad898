package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Configuration keys for automatically issued certificates (ACME, RFC 8555). */
public final class AcmeKeys {
    public static final ConfigKey<List<String>> NAMES = ConfigKey.builder("tls.acme.names", ValueType.NAMES)
            .description(
                    "Names to get certificates for, one certificate each. A wildcard such as *.example.com needs dns_01.");
    public static final ConfigKey<String> EMAIL = ConfigKey.builder("tls.acme.email", ValueType.STRING)
            .description("Address that the issuer may write to, such as ops@example.com.");
    public static final ConfigKey<Boolean> ACCEPT_TERMS = ConfigKey.builder("tls.acme.accept_terms", ValueType.BOOLEAN)
            .defaultsTo(false)
            .description(
                    "Whether you accept the terms of service of every issuer; without this no certificate is issued.");
    public static final ConfigKey<List<ConfigValues>> ISSUERS = ConfigKey.builder("tls.acme.issuers", ValueType.LIST)
            .description(
                    "Issuers in order of preference; if one fails, the next one is used. By default, Let's Encrypt.");
    public static final ConfigKey<String> DIRECTORY = ConfigKey.builder(
                    "tls.acme.issuers[].directory", ValueType.STRING)
            .required()
            .description(
                    "URL of the issuer's ACME directory, or letsencrypt, letsencrypt-staging, zerossl, google, sslcom.");
    public static final ConfigKey<String> EAB_KEY_ID = ConfigKey.builder(
                    "tls.acme.issuers[].eab_key_id", ValueType.STRING)
            .description(
                    "Key identifier of the external account (RFC 8555 section 7.3.4), for issuers that require one.");
    public static final ConfigKey<Path> EAB_KEY_FILE = ConfigKey.builder(
                    "tls.acme.issuers[].eab_key_file", ValueType.PATH)
            .description("File with the MAC key of the external account, in base64url.");
    public static final ConfigKey<Path> CA_FILE = ConfigKey.builder("tls.acme.ca_file", ValueType.PATH)
            .description(
                    "PEM file with CA certificates that verify issuers and the server of tls.acme.on_demand.ask, for private issuers."
                            + " By default, the CA certificates of the Java runtime.");
    public static final ConfigKey<AcmeConfig.Challenge> CHALLENGE = ConfigKey.builder(
                    "tls.acme.challenge", ValueType.word(AcmeConfig.Challenge.class, false))
            .defaultsTo(AcmeConfig.Challenge.HTTP_01)
            .description(
                    "How issuers verify names: http_01 needs an address without TLS on port 80, tls_alpn_01 one with"
                            + " tls: {} on port 443, dns_01 needs dns_hook.");
    public static final ConfigKey<Path> DNS_HOOK = ConfigKey.builder("tls.acme.dns_hook", ValueType.PATH)
            .description(
                    "Program for dns_01, run as: dns_hook present|cleanup RECORD VALUE. RECORD is a full name with a final"
                            + " dot. The program ends with 0 once every name server of the zone has the TXT record.");
    public static final ConfigKey<Duration> DNS_HOOK_TIMEOUT = ConfigKey.builder(
                    "tls.acme.dns_hook_timeout", ValueType.DURATION)
            .within(Duration.ofSeconds(1), Duration.ofHours(1))
            .defaultsTo(Duration.ofMinutes(5))
            .description("How long dns_hook may run before it is killed.");
    public static final ConfigKey<String> PROFILE = ConfigKey.builder("tls.acme.profile", ValueType.STRING)
            .description(
                    "Certificate profile that the issuer offers, such as shortlived; without it the issuer's default.");
    public static final ConfigKey<AcmeConfig.KeyType> KEY_TYPE = ConfigKey.builder(
                    "tls.acme.key_type", ValueType.word(AcmeConfig.KeyType.class, false))
            .defaultsTo(AcmeConfig.KeyType.ECDSA_P256)
            .description("Type of the private keys of new certificates.");
    public static final ConfigKey<Integer> ISSUANCES_MAX = ConfigKey.builder(
                    "tls.acme.issuances_per_name_per_hour", ValueType.INTEGER)
            .within(1, 1000)
            .defaultsTo(5)
            .description("Maximum number of orders for one name within an hour, including failed ones.");
    public static final ConfigKey<Path> STORAGE = ConfigKey.builder("tls.acme.storage", ValueType.PATH)
            .description("Directory for accounts, keys and certificates; by default, acme in the state directory.");
    public static final ConfigKey<String> ASK = ConfigKey.builder("tls.acme.on_demand.ask", ValueType.STRING)
            .description(
                    "URL that decides about a certificate for an unknown name: it gets a request with ?domain=NAME,"
                            + " and the answer 200 permits the certificate. Without this key no certificate is issued"
                            + " on demand.");
    public static final ConfigKey<Duration> WAIT = ConfigKey.builder("tls.acme.on_demand.wait", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofMinutes(2))
            .defaultsTo(Duration.ofSeconds(15))
            .description("How long a handshake waits for a certificate on demand; then tls.unknown_name applies.");
    public static final ConfigKey<Integer> PENDING_MAX = ConfigKey.builder(
                    "tls.acme.on_demand.pending_max", ValueType.INTEGER)
            .within(1, 10_000)
            .defaultsTo(100)
            .description(
                    "Maximum number of names that wait for a certificate on demand at the same time; handshakes for"
                            + " further names do not wait.");

    private AcmeKeys() {}
}
