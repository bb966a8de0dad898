package io.millrace.proxy.tls;

import java.nio.file.Path;
import java.util.Locale;

/** Reports why a certificate cannot be used: the file, the kind of fault, and what to do. */
public final class CertificateFault extends Exception {
    private static final long serialVersionUID = 1;

    /** Kinds of faults; in lower case they are label values of a metric. */
    public enum Kind {
        /** A file is missing or may not be read. */
        UNREADABLE,
        /** A file is not PEM, or holds no certificate or no key. */
        MALFORMED,
        /** The key belongs to another certificate. */
        MISMATCH,
        /** The certificate is past its end. */
        EXPIRED,
        /** The TLS library refuses it. */
        UNSUPPORTED;

        /** As metrics and reports show it. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final Kind kind;

    /** The file's path, for a message that needs no other context. */
    private final String file;

    CertificateFault(Kind kind, Path file, String reason) {
        // Reasons are for operators; where in this program one was found helps nobody.
        super(reason, null, false, false);
        this.kind = kind;
        this.file = file.toString();
    }

    /** What kind of fault this is. */
    public Kind kind() {
        return kind;
    }

    /** The file that has the fault. */
    public String file() {
        return file;
    }
}
