package io.millrace.proxy.config.tls;

import io.millrace.proxy.config.key.ConfigValues;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Certificates that are issued automatically (ACME). Immutable.
 *
 * @param names in lower case, one certificate each
 * @param email contact for the issuer; null for none
 * @param issuers in order of preference
 * @param caFile PEM file that issuers and ask URLs are verified by; null for the Java runtime's
 * @param dnsHook program for dns-01; null without it
 * @param profile certificate profile; null for the issuer's default
 * @param issuancesMax orders per name and hour
 * @param storage directory of everything that is kept; null where the state directory decides
 * @param onDemand certificates for unknown names; null for none
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

    /** How an issuer verifies a name. */
    public enum Challenge {
        /** A file below {@code /.well-known/acme-challenge/} on port 80 (RFC 8555 section 8.3). */
        HTTP_01,
        /** A certificate for the protocol {@code acme-tls/1} on port 443 (RFC 8737). */
        TLS_ALPN_01,
        /** A TXT record (RFC 8555 section 8.4). */
        DNS_01
    }

    /** Type of a private key. */
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
     * Certificates for names that a client asks for first.
     *
     * @param ask URL that permits a name
     * @param waitNanos how long a handshake waits
     * @param pendingMax how many names may wait at the same time
     */
    public record OnDemand(String ask, long waitNanos, int pendingMax) {}

    /** Longest name of a certificate, in characters. */
    public static final int NAME_LENGTH_MAX = 253;

    /** No underscore: no public issuer accepts one. The last label has a letter, which keeps out IPv4 addresses. */
    private static final Pattern NAME = Pattern.compile(
            "(?i)(\\*\\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+(?=[a-z0-9-]*[a-z])[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    private static final String LETS_ENCRYPT = "https://acme-v02.api.letsencrypt.org/directory";

    /** Whether an issuer can issue a certificate for a name: public, and no IP address. */
    public static boolean isIssuable(String name) {
        return name.length() <= NAME_LENGTH_MAX && NAME.matcher(name).matches();
    }

    /** The same with a storage where none is configured. */
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

    /** Directory of issued certificates, each with its key in one file; null where no storage is known. */
    public @Nullable Path certificates() {
        return storage == null ? null : storage.resolve("certificates");
    }

    /** Null where no certificate is issued automatically. */
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

    /** The directory's URL of an issuer with a short name; else the text itself. */
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
