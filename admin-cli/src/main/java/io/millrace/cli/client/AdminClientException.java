package io.millrace.cli.client;

/** Thrown if the admin API sent no usable response. The message is for the user and contains the reason. */
public final class AdminClientException extends Exception {
    /** The stage at which the request failed. */
    public enum Kind {
        /** No connection: the request was not sent. */
        UNREACHABLE,
        /** No TLS connection, for example because a certificate is not accepted. The request was not executed. */
        UNTRUSTED,
        /** Connected, but no response arrived before the deadline; the request may still be executed. */
        NO_ANSWER,
        /**
         * Not sent, because the request would change another node of the fleet. Requests to other nodes may only be
         * queries.
         */
        CHANGE_OF_OTHER_NODE,
        /** The response is not a complete HTTP response, or not the expected JSON. */
        BROKEN_ANSWER
    }

    private final Kind kind;

    AdminClientException(Kind kind, String message) {
        super(message, null, false, false);
        this.kind = kind;
    }

    /** The stage at which the request failed. */
    public Kind kind() {
        return kind;
    }

    /** Returns the message for the user; never null. */
    public String message() {
        return String.valueOf(getMessage());
    }
}
