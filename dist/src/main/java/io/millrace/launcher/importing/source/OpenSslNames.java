package io.millrace.launcher.importing.source;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Translates OpenSSL's names of TLS versions, cipher suites and groups, which other proxies use. Thread-safe:
 * stateless.
 */
public final class OpenSslNames {
    /** Cipher suites of TLS 1.2 that BoringSSL supports. */
    public static final Map<String, String> SUITES = Map.ofEntries(
            Map.entry("ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
            Map.entry("ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
            Map.entry("ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
            Map.entry("ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
            Map.entry("ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
            Map.entry("ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
            Map.entry("ECDHE-ECDSA-AES128-SHA", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA"),
            Map.entry("ECDHE-RSA-AES128-SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"),
            Map.entry("ECDHE-ECDSA-AES256-SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"),
            Map.entry("ECDHE-RSA-AES256-SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"),
            Map.entry("AES128-GCM-SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256"),
            Map.entry("AES256-GCM-SHA384", "TLS_RSA_WITH_AES_256_GCM_SHA384"),
            Map.entry("AES128-SHA", "TLS_RSA_WITH_AES_128_CBC_SHA"),
            Map.entry("AES256-SHA", "TLS_RSA_WITH_AES_256_CBC_SHA"));

    /** Groups that BoringSSL supports; the keys are in lower case. */
    private static final Map<String, String> GROUPS = Map.ofEntries(
            Map.entry("x25519", "x25519"),
            Map.entry("x25519mlkem768", "X25519MLKEM768"),
            Map.entry("p-256", "P-256"),
            Map.entry("prime256v1", "P-256"),
            Map.entry("secp256r1", "P-256"),
            Map.entry("p-384", "P-384"),
            Map.entry("secp384r1", "P-384"),
            Map.entry("p-521", "P-521"),
            Map.entry("secp521r1", "P-521"));

    /**
     * A translated list. Immutable.
     *
     * @param words translated names in the order of the list
     * @param unknown names without an equivalent
     */
    public record Translation(List<String> words, List<String> unknown) {}

    private OpenSslNames() {}

    /**
     * Translates a list of TLS 1.2 cipher suites.
     *
     * @return null if a word denotes a set of suites, such as {@code HIGH}, which depends on the version of OpenSSL
     */
    public static @Nullable Translation suites(String list) {
        List<String> words = new ArrayList<>();
        List<String> removed = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (String word : list.split("[:,\\s]+|(?=!)", -1)) {
            String suite = SUITES.get(word);
            if (suite != null) {
                words.add(suite);
            } else if (word.startsWith("!") || word.startsWith("-")) {
                // The word may exclude a set such as aNULL or RC4. BoringSSL has no suites of these sets anyway.
                removed.add(SUITES.getOrDefault(word.substring(1), ""));
            } else if (word.contains("-") || word.startsWith("TLS_")) {
                unknown.add(word);
            } else if (!word.isEmpty() && !word.startsWith("@")) {
                return null;
            }
        }
        words.removeAll(removed);
        return new Translation(words.stream().distinct().toList(), unknown);
    }

    /** Translates a list of key exchange groups. */
    public static Translation groups(String list) {
        List<String> words = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (String word : list.split("[:,\\s]+", -1)) {
            String group = GROUPS.get(word.toLowerCase(Locale.ROOT));
            if (group != null) {
                words.add(group);
            } else if (!word.isEmpty()) {
                unknown.add(word);
            }
        }
        return new Translation(words.stream().distinct().toList(), unknown);
    }

    /**
     * Translates a version in sni.yaml, such as {@code TLSv1_2}.
     *
     * @return null for an unsupported or unknown version
     */
    public static @Nullable String version(String word) {
        return switch (word.toUpperCase(Locale.ROOT)) {
            case "TLSV1_2" -> "TLSv1.2";
            case "TLSV1_3" -> "TLSv1.3";
            default -> null;
        };
    }

    /**
     * Translates a version number of Traffic Server's records, in which 0 means TLS 1.0. Returns null for an
     * unsupported version.
     */
    public static @Nullable String version(long number) {
        return number == 2 ? "TLSv1.2" : number == 3 ? "TLSv1.3" : null;
    }
}
