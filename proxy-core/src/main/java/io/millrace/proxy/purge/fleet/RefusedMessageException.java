package io.millrace.proxy.purge.fleet;

import java.util.Locale;

/** Thrown for a message of the fleet that a node must not apply. */
public final class RefusedMessageException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The kinds of reasons, which are the values of a metric's label. */
    public enum Reason {
        /** The message is longer than the limit. */
        TOO_LONG,
        /** The message is not an object with the expected members. */
        MALFORMED,
        /** Another version of Millrace wrote the message in a format that this version does not know. */
        VERSION,
        /** The message belongs to another fleet. */
        OTHER_FLEET,
        /** The message names another node than the node that sent it. */
        FORGED_NODE,
        /** This node cannot apply the message. */
        INAPPLICABLE;

        /** Returns the name in metrics and messages. */
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    private final Reason reason;

    /** Creates a refusal. */
    public RefusedMessageException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** Returns the kind of reason. */
    public Reason reason() {
        return reason;
    }

    /** Returns the reason with its details. */
    public String text() {
        return reason.word() + ": " + getMessage();
    }
}
