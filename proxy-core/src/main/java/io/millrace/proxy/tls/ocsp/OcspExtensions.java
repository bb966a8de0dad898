package io.millrace.proxy.tls.ocsp;

import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The extensions of a certificate that are relevant to OCSP. Immutable.
 *
 * @param responder http or https URL of the responder (RFC 5280 section 4.2.2.1); null for none
 * @param mustStaple whether clients refuse the certificate without a staple (RFC 7633)
 */
public record OcspExtensions(@Nullable String responder, boolean mustStaple) {
    private static final String AUTHORITY_ACCESS = "1.3.6.1.5.5.7.1.1";
    private static final String OCSP = "1.3.6.1.5.5.7.48.1";
    private static final String TLS_FEATURE = "1.3.6.1.5.5.7.1.24";

    /** The number of the TLS extension status_request (RFC 6066 section 8), by which a certificate demands a staple. */
    private static final byte[] STATUS_REQUEST = {5};

    private static final int URI_NAME = 0x86;

    /** Reads the extensions of a certificate. Treats damaged extensions as absent. */
    public static OcspExtensions of(X509Certificate certificate) {
        return new OcspExtensions(responder(certificate), mustStaple(certificate));
    }

    private static @Nullable String responder(X509Certificate certificate) {
        byte[] extension = certificate.getExtensionValue(AUTHORITY_ACCESS);
        if (extension == null) {
            return null;
        }
        try {
            DerReader descriptions =
                    DerReader.of(extension).enter(DerReader.OCTET_STRING).enter(DerReader.SEQUENCE);
            while (descriptions.hasMore()) {
                DerReader description = descriptions.enter(DerReader.SEQUENCE);
                if (description.identifier().equals(OCSP) && description.tag() == URI_NAME) {
                    String url = new String(description.content(URI_NAME), StandardCharsets.US_ASCII);
                    String lower = url.toLowerCase(Locale.ROOT);
                    if (lower.startsWith("http://") || lower.startsWith("https://")) {
                        return url;
                    }
                }
            }
        } catch (IllegalArgumentException e) {
            return null;
        }
        return null;
    }

    private static boolean mustStaple(X509Certificate certificate) {
        byte[] extension = certificate.getExtensionValue(TLS_FEATURE);
        if (extension == null) {
            return false;
        }
        try {
            DerReader features =
                    DerReader.of(extension).enter(DerReader.OCTET_STRING).enter(DerReader.SEQUENCE);
            while (features.hasMore()) {
                if (Arrays.equals(features.content(DerReader.INTEGER), STATUS_REQUEST)) {
                    return true;
                }
            }
        } catch (IllegalArgumentException e) {
            return false;
        }
        return false;
    }
}
