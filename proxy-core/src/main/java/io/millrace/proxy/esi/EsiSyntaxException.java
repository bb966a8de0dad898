package io.millrace.proxy.esi;

/** Thrown for ESI markup that cannot be processed. The message begins with line and column. Has no stack trace. */
public final class EsiSyntaxException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The reason why a document cannot be processed. */
    public enum Reason {
        /** The markup is malformed. */
        MALFORMED("esi-markup"),
        /** The markup contains an element or a variable that this proxy does not process. */
        UNSUPPORTED("esi-unsupported"),
        /** The document has more elements than the limit. */
        TOO_MANY_INCLUDES("esi-includes");

        private final String text;

        Reason(String text) {
            this.text = text;
        }

        /** The identifier of this reason in logs and Cache-Status. Never changes. */
        public String text() {
            return text;
        }
    }

    private final Reason reason;

    EsiSyntaxException(Reason reason, String message) {
        super(message, null, false, false);
        this.reason = reason;
    }

    /** The reason why the document cannot be processed. */
    public Reason reason() {
        return reason;
    }
}
