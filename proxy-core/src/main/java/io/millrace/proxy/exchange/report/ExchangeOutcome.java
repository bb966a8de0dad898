package io.millrace.proxy.exchange.report;

/**
 * The outcome of an exchange, for logs, metrics and error pages: success or failure, the side that determined it, and
 * the reason.
 */
public enum ExchangeOutcome {
    /**
     * A stored response answered that was fresh, or stale within the limits of a directive or of the overload settings.
     */
    HIT(Group.SUCCESS, Side.LOCAL, "hit"),
    /** A stored response answered after the origin confirmed it. */
    REVALIDATED(Group.SUCCESS, Side.LOCAL, "revalidated"),
    /** A stale stored response answered because the origin failed, is marked down or took too long. */
    STALE(Group.SUCCESS, Side.ORIGIN, "stale"),
    /** The origin's response answered. */
    FETCHED(Group.SUCCESS, Side.ORIGIN, "fetched"),
    /** The client received the response that another exchange was fetching. */
    COLLAPSED(Group.SUCCESS, Side.ORIGIN, "collapsed"),
    /** The client was joined to an origin by a tunnel. */
    TUNNELLED(Group.SUCCESS, Side.ORIGIN, "tunnelled"),
    /**
     * The proxy generated the response itself: for a rule, as the final recipient, for a purge, or for only-if-cached.
     */
    LOCAL(Group.SUCCESS, Side.LOCAL, "local"),
    /** A rule redirected the client. */
    REDIRECTED(Group.SUCCESS, Side.LOCAL, "redirected"),
    /** The bytes were not a valid request. */
    BAD_REQUEST(Group.FAILURE, Side.CLIENT, "bad-request"),
    /** The access rules denied the request. */
    DENIED(Group.FAILURE, Side.CLIENT, "denied"),
    /** The proxy does not support the requested function, or the fleet's outbox does not accept the purge. */
    NOT_OFFERED(Group.FAILURE, Side.CLIENT, "not-offered"),
    /** No remap rule maps the URL. */
    NOT_MAPPED(Group.FAILURE, Side.CLIENT, "not-mapped"),
    /** The client closed the stream before the end of the response. */
    CLIENT_GONE(Group.FAILURE, Side.CLIENT, "client-gone"),
    /** The origin could not be reached or sent no valid response. */
    ORIGIN_FAILED(Group.FAILURE, Side.ORIGIN, "origin-failed"),
    /** The origin did not respond in time. */
    ORIGIN_TIMEOUT(Group.FAILURE, Side.ORIGIN, "origin-timeout"),
    /** The total time of the request exceeded the limit. */
    TRANSACTION_TIMEOUT(Group.FAILURE, Side.LOCAL, "transaction-timeout"),
    /** The response was aborted after its head, because the origin's response ended early. */
    TRUNCATED(Group.FAILURE, Side.ORIGIN, "truncated"),
    /** The response was aborted after its head, because its content could not be read from the store. */
    STORE_READ(Group.FAILURE, Side.LOCAL, "store-read"),
    /** Data that must be durable could not be written to the storage. */
    STORE_WRITE(Group.FAILURE, Side.LOCAL, "store-write"),
    /** An internal error of this proxy. */
    INTERNAL(Group.FAILURE, Side.LOCAL, "internal");

    /** Success or failure. */
    public enum Group {
        /** The client received a valid response to its request. */
        SUCCESS,
        /** The client did not receive a valid response. */
        FAILURE
    }

    /** The side that determined the outcome. */
    public enum Side {
        /** The client. */
        CLIENT,
        /** This proxy. */
        LOCAL,
        /** The origin. */
        ORIGIN
    }

    private final Group group;
    private final Side side;
    private final String text;

    ExchangeOutcome(Group group, Side side, String text) {
        this.group = group;
        this.side = side;
        this.text = text;
    }

    /** Returns the group of the outcome: success or failure. */
    public Group group() {
        return group;
    }

    /** The side that determined the outcome. */
    public Side side() {
        return side;
    }

    /** The identifier of this outcome in logs, metrics and error pages. Never changes. */
    public String text() {
        return text;
    }
}
