package io.millrace.proxy.exchange.decide;

/** The action to take for a request. Part of a {@link Decision}. */
public enum DecisionKind {
    /** Refuse the request with the answer {@link Decision#local}. */
    DENIED,
    /** Answer in the origin's place, since Max-Forwards permits no further forwarding (RFC 9110 s7.6.2). */
    FINAL_RECIPIENT,
    /** Begin {@link Decision#credentialCheck}, then decide again with its result. */
    AUTHENTICATE,
    /** Wait for a hook of an extension, {@link Decision#hooks}, then decide again. */
    EXTENSION_PENDING,
    /** Send the answer of an extension, found in {@link Decision#hooks}. */
    EXTENSION_ANSWERED,
    /**
     * The request may be an ACME challenge: look for the challenge's answer and send it. If there is none, decide
     * again.
     */
    CHALLENGE,
    /** Answer 404: no rule maps the URL. */
    NOT_MAPPED,
    /** Redirect the client, as {@link Decision#local} says. */
    REDIRECTED,
    /** Send the answer that a rule defines, found in {@link Decision#local}. */
    ANSWERED,
    /** Join the client to the requested host by a tunnel. */
    TUNNEL,
    /**
     * Send the request to the origin unchanged. Nothing is stored or reused, but a response to HEAD may update or
     * discard a stored response.
     */
    PASS,
    /** The disk index contains the key: read the object, then decide again. */
    OPEN,
    /** Send the object, which is fresh. */
    FRESH,
    /** Send the object although it is stale, and validate it in the background where that is required. */
    SERVE_STALE,
    /** Validate the object first. */
    VALIDATE,
    /** The object contains only a part of the requested bytes: fetch the missing ones. */
    COMPLETE,
    /** No usable response is stored: fetch it. */
    MISS,
    /** No usable response is stored, and the request contains only-if-cached (RFC 9111 s5.2.1.7): answer 504. */
    UNAVAILABLE;

    /**
     * Returns true if a request with this decision waits for the store, an origin, an extension or a check of
     * credentials. Waiting for the answer to an ACME challenge does not count.
     */
    public boolean isWaiting() {
        return switch (this) {
            case PASS, OPEN, VALIDATE, COMPLETE, MISS, AUTHENTICATE, EXTENSION_PENDING -> true;
            case TUNNEL,
                    DENIED,
                    FINAL_RECIPIENT,
                    CHALLENGE,
                    NOT_MAPPED,
                    REDIRECTED,
                    ANSWERED,
                    EXTENSION_ANSWERED,
                    FRESH,
                    SERVE_STALE,
                    UNAVAILABLE -> false;
        };
    }
}
