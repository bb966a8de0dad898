package io.millrace.launcher.fleet.config;

import java.util.Locale;

/** A revision that must not be applied. The message is for the operator. */
public final class RefusedRevisionException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The kinds of refusals, which a metric counts. */
    public enum Reason {
        /** The statement or the head of the configuration is malformed. */
        MALFORMED,
        /** There is no signature, or the public key does not verify it. */
        SIGNATURE,
        /** The statement is of another fleet. */
        OTHER_FLEET,
        /** The node has had this or a later revision. */
        OLDER,
        /** The content is missing, too long, or differs from the signed hash. */
        CONTENT,
        /** The configuration has errors, or a key that may not be pushed. */
        INVALID;

        /** Returns the stable name in metrics and answers. */
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    private final Reason reason;

    RefusedRevisionException(Reason reason, String text) {
        super(text, null, false, false);
        this.reason = reason;
    }

    /** Returns the kind. */
    public Reason reason() {
        return reason;
    }

    /** Returns the message. */
    public String text() {
        return String.valueOf(getMessage());
    }
}
