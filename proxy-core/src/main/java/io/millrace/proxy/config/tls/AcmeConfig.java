package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigValues;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Settings of automatically issued certificates (ACME). Immutable.
 *
 * @param names in lower case, one certificate per name
 * @param email contact for the issuer; null for none
 * @param issuers in order of preference
 * @param caFile PEM file with the authorities that verify the servers of issuers and {@code ask} URLs; null for those
 *     of the Java runtime
 * @param dnsHook program that sets DNS records for dns-01; null for none
 * @param profile certificate profile; null for the issuer's default
 * @param issuancesMax limit of orders per name and hour
 * @param storage directory of accounts, keys and certificates; null for a directory in the state directory
 * @param onDemand settings of certificates for unknown names; null for none
 */
public record AcmeConfig(
        List<String> names,
        @Nullable String email,
        boolean acceptsTerms,
        List<Issuer> issuers,
        @Nullable Path caFile,
        Challenge challenge,
        @Nullable Path dnsHook,
        long dnsHookNanos,
        @Nullable String profile,
        KeyType keyType,
        int issuancesMax,
        @Nullable Path storage,
        @Nullable OnDemand onDemand) {

    /** The challenge with which an issuer verifies a name. */
    public enum Challenge {
        /** A file below {@code /.well-known/acme-challenge/} on port 80 (RFC 8555 section 8.3). */
        HTTP_01,
        /** A certificate for the protocol {@code acme-tls/1} on port 443 (RFC 8737). */
        TLS_ALPN_01,
        /** A TXT record (RFC 8555 section 8.4). */
        DNS_01
    }

    /** The type of a private key. */
    public enum KeyType {
        ECDSA_P256,
        ECDSA_P384,
        RSA_2048,
        RSA_4096
    }

    /**
     * An authority that issues certificates.
     *
     * @param directory URL of its ACME directory
     * @param eabKeyId identifier of an external account; null for none
     * @param eabKeyFile file with the MAC key of that account; null for none
     */
    public record Issuer(
            String directory,
            @Nullable String eabKeyId,
            @Nullable Path eabKeyFile) {}

    /**
     * Settings of certificates that are ordered when a client first requests a name.
     *
     * @param ask URL that is requested for permission to order a certificate
     * @param waitNanos how long a handshake waits for a certificate
     * @param pendingMax limit of names that wait at the same time
     */
    public record OnDemand(String ask, long waitNanos, int pendingMax) {}

    /** Length of the longest name of a certificate, in characters. */
    public static final int NAME_LENGTH_MAX = 253;

    /**
     * A DNS name. Underscores are excluded, because no public issuer accepts them. The last label must contain a
     * letter, which excludes IPv4 addresses.
     */
    private static final Pattern NAME = Pattern.compile(
            "(?i)(\\*\\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+(?=[a-z0-9-]*[a-z])[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    private static final String LETS_ENCRYPT = "https://acme-v02.api.letsencrypt.org/directory";

    /**
     * Returns true if an issuer can issue a certificate for a name. The name must be a DNS name with at least two
     * labels, not an IP address.
     */
    public static boolean isIssuable(String name) {
        return name.length() <= NAME_LENGTH_MAX && NAME.matcher(name).matches();
    }

    /** Returns these settings with the given storage directory, unless one is configured. */
    public AcmeConfig storedIn(Path directory) {
        return storage != null
                ? this
                : new AcmeConfig(
                        names,
                        email,
                        acceptsTerms,
                        issuers,
                        caFile,
                        challenge,
                        dnsHook,
                        dnsHookNanos,
                        profile,
                        keyType,
                        issuancesMax,
                        directory,
                        onDemand);
    }

    /** Directory of issued certificates, each with its key in one file. Null if the storage is not known. */
    public @Nullable Path certificates() {
        return storage == null ? null : storage.resolve("certificates");
    }

    /** Returns the settings; null if no certificate is issued automatically. */
    public static @Nullable AcmeConfig from(ConfigValues values) {
        List<String> named = values.find(AcmeKeys.NAMES);
        String ask = values.find(AcmeKeys.ASK);
        List<String> names = named == null
                ? List.of()
                : named.stream()
                        .map(name -> name.toLowerCase(Locale.ROOT))
                        .distinct()
                        .toList();
        if (names.isEmpty() && ask == null) {
            return null;
        }
        List<Issuer> issuers = values.elements(AcmeKeys.ISSUERS).stream()
                .map(AcmeConfig::issuer)
                .toList();
        return new AcmeConfig(
                names,
                values.find(AcmeKeys.EMAIL),
                values.get(AcmeKeys.ACCEPT_TERMS),
                issuers.isEmpty() ? List.of(new Issuer(LETS_ENCRYPT, null, null)) : issuers,
                values.find(AcmeKeys.CA_FILE),
                values.get(AcmeKeys.CHALLENGE),
                values.find(AcmeKeys.DNS_HOOK),
                values.get(AcmeKeys.DNS_HOOK_TIMEOUT).toNanos(),
                values.find(AcmeKeys.PROFILE),
                values.get(AcmeKeys.KEY_TYPE),
                values.get(AcmeKeys.ISSUANCES_MAX),
                values.find(AcmeKeys.STORAGE),
                ask == null
                        ? null
                        : new OnDemand(ask, values.get(AcmeKeys.WAIT).toNanos(), values.get(AcmeKeys.PENDING_MAX)));
    }

    private static Issuer issuer(ConfigValues element) {
        String directory = element.find(AcmeKeys.DIRECTORY);
        return new Issuer(
                urlOf(directory == null ? LETS_ENCRYPT : directory),
                element.find(AcmeKeys.EAB_KEY_ID),
                element.find(AcmeKeys.EAB_KEY_FILE));
    }

    /** Returns the directory URL of an issuer with a short name; other text is returned unchanged. */
    static String urlOf(String directory) {
        return switch (directory.toLowerCase(Locale.ROOT)) {
            case "letsencrypt" -> LETS_ENCRYPT;
            case "letsencrypt-staging" -> "https://acme-staging-v02.api.letsencrypt.org/directory";
            case "zerossl" -> "https://acme.zerossl.com/v2/DV90";
            case "google" -> "https://dv.acme-v02.api.pki.goog/directory";
            case "sslcom" -> "https://acme.ssl.com/sslcom-dv-ecc";
            default -> directory;
        };
    }
}
