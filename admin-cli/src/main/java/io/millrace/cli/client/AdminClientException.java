package io.millrace.cli.client;

/** No usable answer came from the admin API. The message says where and why, in words for people. */
public final class AdminClientException extends Exception {
    /** How far the request got. */
    public enum Kind {
        /** No connection: the request was not sent. */
        UNREACHABLE,
        /** Connected, but the answer did not come before the deadline; the request may still be carried out. */
        NO_ANSWER,
        /** What came is not a whole HTTP response, or not the JSON it should be. */
        BROKEN_ANSWER
    }

    private final Kind kind;

    AdminClientException(Kind kind, String message) {
        super(message, null, false, false);
        this.kind = kind;
    }

    /** How far the request got. */
    public Kind kind() {
        return kind;
    }

    /** The sentence. */
    public String message() {
        return String.valueOf(getMessage());
    }
}
