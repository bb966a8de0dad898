package io.millrace.proxy.tls;

import java.nio.file.Path;
import java.util.Locale;

/** Thrown if a certificate cannot be used. The message contains the reason and the remedy. */
public final class CertificateFault extends Exception {
    private static final long serialVersionUID = 1;

    /** The kinds of faults. In lower case they are label values of a metric. */
    public enum Kind {
        /** A file is missing or not readable. */
        UNREADABLE,
        /** A file is not PEM, or contains no certificate or no key. */
        MALFORMED,
        /** The key belongs to another certificate. */
        MISMATCH,
        /** The certificate has expired. */
        EXPIRED,
        /** The TLS library refuses the certificate. */
        UNSUPPORTED;

        /** The text in metrics and reports. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final Kind kind;

    /** The path of the file with the fault. */
    private final String file;

    CertificateFault(Kind kind, Path file, String reason) {
        // No stack trace: the cause is in a file, and the reason is for operators.
        super(reason, null, false, false);
        this.kind = kind;
        this.file = file.toString();
    }

    /** The kind of fault. */
    public Kind kind() {
        return kind;
    }

    /** The file that has the fault. */
    public String file() {
        return file;
    }
}
