package io.millrace.launcher.init;

import io.millrace.launcher.config.TlsSite;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The operator's answers, from which the configuration text is made. Immutable.
 *
 * @param sites the sites; each may have its own origin
 * @param origin URL of the origin of the sites without their own; null if each has its own
 * @param certificates automatic certificates, or certificate files
 * @param email e-mail address for the issuer of certificates; null for none
 * @param staging whether certificates are ordered from the test issuer
 * @param http address of the plain HTTP listener
 * @param https address of the HTTPS listener
 * @param cachePath directory of the cache; a relative path starts at the directory of the configuration file
 * @param cacheSize size of the cache on disk, such as 10GiB
 */
record InitDraft(
        List<Site> sites,
        @Nullable String origin,
        CertificateChoice certificates,
        @Nullable String email,
        boolean staging,
        String http,
        String https,
        String cachePath,
        String cacheSize) {
    InitDraft {
        sites = List.copyOf(sites);
    }

    /** Returns the text of the configuration file. */
    String yaml() {
        StringBuilder text = new StringBuilder(2048);
        text.append("# Written by millrace init. Millrace reads this file at its start, and again on\n"
                + "# `millctl config reload`.\n"
                + "#   millrace check FILE            lists all mistakes\n"
                + "#   millctl config describe KEY    explains a key\n\n");
        text.append("listen:\n  # Plain HTTP: redirects to HTTPS");
        text.append(certificates.isAutomatic() ? ", and answers the issuer of the certificates.\n" : ".\n");
        text.append("  - ").append(TlsSite.quoted(http)).append('\n');
        text.append("  # HTTPS with HTTP/2. `tls: {}` uses the certificates below.\n");
        text.append("  - {address: ").append(TlsSite.quoted(https)).append(", tls: {}}\n\n");
        appendCertificates(text);
        text.append("# Rules that map URLs to origins. A URL that no rule maps is answered with 404.\n");
        text.append("remap:\n");
        for (Site site : sites) {
            text.append("  # ").append(site.name()).append('\n');
            String ownOrigin = site.origin();
            text.append(TlsSite.rules(
                    site.name(), List.of(http), https, ownOrigin == null ? String.valueOf(origin) : ownOrigin));
        }
        text.append("\n# The cache on disk. Objects stay usable after a restart or a crash.\n");
        text.append("storage:\n  - path: ").append(TlsSite.quoted(cachePath)).append('\n');
        text.append("    size: ").append(cacheSize).append("\n\n");
        text.append("cache:\n"
                + "  # Memory for the most requested responses. Default: a quarter of the memory.\n"
                + "  # ram_size: 4GiB\n"
                + "  # Time for which an expired response may be served while its origin fails.\n"
                + "  max_stale_age: 7d\n"
                + "  # Query parameters that change no response: not in cache keys, not sent on.\n"
                + "  # key:\n"
                + "  #   excluded_params: [\"utm_*\", gclid, fbclid]\n\n"
                + "log:\n"
                + "  access:\n"
                + "    # squid, combined, common, json, binary, or a template\n"
                + "    format: combined\n");
        return text.toString();
    }

    private void appendCertificates(StringBuilder text) {
        text.append("tls:\n");
        if (certificates.isAutomatic()) {
            text.append("  # Certificates that are ordered and renewed automatically (ACME). Ports 80 and 443 of\n"
                    + "  # each name must lead to this machine. `millctl tls list` shows their state.\n"
                    + "  acme:\n    names:\n");
            sites.forEach(site -> text.append("      - ").append(site.name()).append('\n'));
            text.append("    # You accepted the issuer's terms of service.\n    accept_terms: true\n");
            if (email != null) {
                text.append("    email: ").append(TlsSite.quoted(email)).append('\n');
            }
            if (staging) {
                text.append("    # The test issuer: browsers do not trust its certificates. Delete this line later.\n"
                        + "    issuers: [letsencrypt-staging]\n");
            }
        } else {
            String file = TlsSite.quoted(String.valueOf(certificates.file()));
            text.append("  # Changed files are used without a reload. `millctl tls list` shows their state.\n"
                    + "  certificates:\n");
            if (certificates.isDirectory()) {
                text.append("    - directory: ").append(file).append('\n');
            } else {
                text.append("    - certificate: ").append(file).append('\n');
                if (certificates.key() != null) {
                    text.append("      key: ")
                            .append(TlsSite.quoted(certificates.key().toString()))
                            .append('\n');
                }
            }
        }
        text.append('\n');
    }
}
