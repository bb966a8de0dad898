package io.millrace.proxy.tls;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Matches host names and addresses with the names of a certificate (RFC 9525). Stateless. */
public final class CertificateNames {
    /** Types of names in subjectAltName (RFC 5280 section 4.2.1.6). */
    static final int DNS_NAME = 2;

    static final int IP_ADDRESS = 7;

    private CertificateNames() {}

    /**
     * Returns true if a certificate is valid for a name or an address. Only subjectAltName is used.
     *
     * @param name host name, or address without brackets
     */
    public static boolean match(X509Certificate certificate, String name) {
        Collection<List<?>> alternatives;
        try {
            alternatives = certificate.getSubjectAlternativeNames();
        } catch (CertificateParsingException e) {
            return false;
        }
        String lowerName = lower(name);
        for (List<?> each : alternatives == null ? List.<List<?>>of() : alternatives) {
            int type = (Integer) Objects.requireNonNull(each.get(0));
            boolean fits = (type == DNS_NAME || type == IP_ADDRESS)
                    && each.get(1) instanceof String text
                    && (type == IP_ADDRESS ? lower(text).equals(lowerName) : matches(lower(text), lowerName));
            if (fits) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if a pattern matches a name. A wildcard matches one whole label. */
    private static boolean matches(String pattern, String name) {
        if (!pattern.startsWith("*.")) {
            return pattern.equals(name);
        }
        int dot = name.indexOf('.');
        return dot > 0 && pattern.indexOf('.', 2) > 0 && name.substring(dot).equals(pattern.substring(1));
    }

    private static String lower(@Nullable String text) {
        String lower = String.valueOf(text).toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
    }
}
