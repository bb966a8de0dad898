package io.millrace.proxy.tls.ocsp;

import java.util.Locale;

/** Reports why an OCSP responder's answer is not used as a staple. */
public final class OcspFault extends Exception {
    private static final long serialVersionUID = 1;

    /** Kinds of faults; in lower case with hyphens they are label values of a metric. */
    public enum Kind {
        /** No connection, no whole answer within the time for it, or an HTTP status other than 200. */
        UNREACHABLE,
        /** The answer is not OCSP, or longer than any. */
        MALFORMED,
        /** The responder refuses to answer, such as tryLater. */
        REFUSED,
        /** The signature is not one of the issuer or of a responder that the issuer has authorised. */
        UNTRUSTED,
        /** The answer is about other certificates. */
        MISMATCH,
        /** The answer is not valid yet, or not any more. */
        OUTDATED,
        /** The issuer has revoked the certificate. */
        REVOKED,
        /** The responder does not know the certificate. */
        UNKNOWN;

        /** As metrics and reports show it. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final Kind kind;

    OcspFault(Kind kind, String reason) {
        // Reasons are for operators; a stack trace adds nothing.
        super(reason, null, false, false);
        this.kind = kind;
    }

    /** The kind of fault. */
    public Kind kind() {
        return kind;
    }
}
