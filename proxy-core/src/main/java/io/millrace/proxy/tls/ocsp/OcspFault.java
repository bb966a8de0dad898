package io.millrace.proxy.tls.ocsp;

import java.util.Locale;

/** Thrown if an OCSP request fails, or its answer cannot be a staple. */
public final class OcspFault extends Exception {
    private static final long serialVersionUID = 1;

    /** The kinds of faults. In lower case they are label values of a metric. */
    public enum Kind {
        /** No connection, no complete answer within the time limit, or an HTTP status other than 200. */
        UNREACHABLE,
        /** The answer is not OCSP, or longer than the limit. */
        MALFORMED,
        /** The responder refuses to answer, for example with tryLater. */
        REFUSED,
        /** The answer was signed neither by the issuer nor by a responder that the issuer has authorized. */
        UNTRUSTED,
        /** The answer is about other certificates. */
        MISMATCH,
        /** The answer is not valid yet, or has expired. */
        OUTDATED,
        /** The issuer has revoked the certificate. */
        REVOKED,
        /** The responder has no information about the certificate. */
        UNKNOWN;

        /** The text in metrics and reports. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final Kind kind;

    OcspFault(Kind kind, String reason) {
        // No stack trace: the cause is the responder, and the reason is for operators.
        super(reason, null, false, false);
        this.kind = kind;
    }

    /** The kind of fault. */
    public Kind kind() {
        return kind;
    }
}
