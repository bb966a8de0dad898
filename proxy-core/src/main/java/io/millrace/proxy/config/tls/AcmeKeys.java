package io.millrace.proxy.config.tls;

import static io.millrace.proxy.config.key.ConfigKey.draft;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The catalogue's entries for certificates that are issued automatically (ACME, RFC 8555). */
public final class AcmeKeys {
    public static final ConfigKey<List<String>> NAMES = draft("tls.acme.names", ValueType.NAMES)
            .says(
                    "Names to get certificates for, one certificate each. A wildcard such as *.example.com needs dns-01.");
    public static final ConfigKey<String> EMAIL = draft("tls.acme.email", ValueType.STRING)
            .says("Address that the issuer may write to, such as ops@example.com.");
    public static final ConfigKey<Boolean> ACCEPT_TERMS = draft("tls.acme.accept_terms", ValueType.BOOLEAN)
            .defaultsTo(false)
            .says(
                    "Whether the operator accepts the terms of service of every issuer; no certificate is issued before.");
    public static final ConfigKey<List<ConfigValues>> ISSUERS = draft("tls.acme.issuers", ValueType.LIST)
            .says("Issuers in order of preference; the next one is used where one fails. Without it Let's Encrypt.");
    public static final ConfigKey<String> DIRECTORY = draft("tls.acme.issuers[].directory", ValueType.STRING)
            .required()
            .says("URL of the issuer's ACME directory, or letsencrypt, letsencrypt-staging, zerossl, google, sslcom.");
    public static final ConfigKey<String> EAB_KEY_ID = draft("tls.acme.issuers[].eab_key_id", ValueType.STRING)
            .says("Key identifier of the external account (RFC 8555 section 7.3.4), for issuers that ask for one.");
    public static final ConfigKey<Path> EAB_KEY_FILE = draft("tls.acme.issuers[].eab_key_file", ValueType.PATH)
            .says("File with the MAC key of the external account, in base64url.");
    public static final ConfigKey<Path> CA_FILE = draft("tls.acme.ca_file", ValueType.PATH)
            .says("PEM file with the CA certificates that issuers and ask URLs are verified by, for private issuers."
                    + " Without it those of the Java runtime.");
    public static final ConfigKey<AcmeConfig.Challenge> CHALLENGE = draft(
                    "tls.acme.challenge", ValueType.word(AcmeConfig.Challenge.class, false))
            .defaultsTo(AcmeConfig.Challenge.HTTP_01)
            .says("How issuers verify names: http-01 needs an address without TLS on port 80, tls-alpn-01 one with"
                    + " tls: {} on port 443, dns-01 needs dns_hook.");
    public static final ConfigKey<Path> DNS_HOOK = draft("tls.acme.dns_hook", ValueType.PATH)
            .says(
                    "Program for dns-01, run as: dns_hook present|cleanup RECORD VALUE. RECORD is a full name with a final"
                            + " dot. The program ends with 0 once every name server of the zone has the TXT record.");
    public static final ConfigKey<Duration> DNS_HOOK_TIMEOUT = draft("tls.acme.dns_hook_timeout", ValueType.DURATION)
            .within(Duration.ofSeconds(1), Duration.ofHours(1))
            .defaultsTo(Duration.ofMinutes(5))
            .says("How long dns_hook may run before it is killed.");
    public static final ConfigKey<String> PROFILE = draft("tls.acme.profile", ValueType.STRING)
            .says("Certificate profile that the issuer offers, such as shortlived; without it the issuer's default.");
    public static final ConfigKey<AcmeConfig.KeyType> KEY_TYPE = draft(
                    "tls.acme.key_type", ValueType.word(AcmeConfig.KeyType.class, false))
            .defaultsTo(AcmeConfig.KeyType.ECDSA_P256)
            .says("Type of the private keys of new certificates.");
    public static final ConfigKey<Integer> ISSUANCES_MAX = draft(
                    "tls.acme.issuances_per_name_per_hour", ValueType.INTEGER)
            .within(1, 1000)
            .defaultsTo(5)
            .says("Most orders for one name within an hour, failed ones included.");
    public static final ConfigKey<Path> STORAGE = draft("tls.acme.storage", ValueType.PATH)
            .says("Directory for accounts, keys and certificates; without it acme in the state directory.");
    public static final ConfigKey<String> ASK = draft("tls.acme.on_demand.ask", ValueType.STRING)
            .says(
                    "URL that permits a certificate for an unknown name: it is asked with ?domain=NAME, and 200 means yes."
                            + " Without it no certificate is issued on demand.");
    public static final ConfigKey<Duration> WAIT = draft("tls.acme.on_demand.wait", ValueType.DURATION)
            .within(Duration.ZERO, Duration.ofMinutes(2))
            .defaultsTo(Duration.ofSeconds(15))
            .says("How long a handshake waits for a certificate on demand; then tls.unknown_name applies.");
    public static final ConfigKey<Integer> PENDING_MAX = draft("tls.acme.on_demand.pending_max", ValueType.INTEGER)
            .within(1, 10_000)
            .defaultsTo(100)
            .says(
                    "Most names that wait for a certificate on demand at the same time; handshakes for more do not wait.");

    private AcmeKeys() {}
}
