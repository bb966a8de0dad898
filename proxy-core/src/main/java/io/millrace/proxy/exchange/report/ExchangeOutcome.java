package io.millrace.proxy.exchange.report;

/**
 * How an exchange ended, in one value for log, metric and error page: whether it is a success, on whose side the reason lies,
 * and the reason.
 */
public enum ExchangeOutcome {
    /** A fresh stored response answered. */
    HIT(Group.SUCCESS, Side.LOCAL, "hit"),
    /** A stored response answered after the origin confirmed it. */
    REVALIDATED(Group.SUCCESS, Side.LOCAL, "revalidated"),
    /** A stale stored response answered because the origin could not. */
    STALE(Group.SUCCESS, Side.ORIGIN, "stale"),
    /** The origin's response answered. */
    FETCHED(Group.SUCCESS, Side.ORIGIN, "fetched"),
    /** The response that another exchange was fetching answered. */
    COLLAPSED(Group.SUCCESS, Side.ORIGIN, "collapsed"),
    /** The client was joined to an origin. */
    TUNNELLED(Group.SUCCESS, Side.ORIGIN, "tunnelled"),
    /** The proxy answered by itself as asked (304, 416, only-if-cached). */
    LOCAL(Group.SUCCESS, Side.LOCAL, "local"),
    /** A rule sent the client elsewhere. */
    REDIRECTED(Group.SUCCESS, Side.LOCAL, "redirected"),
    /** The bytes were no acceptable request. */
    BAD_REQUEST(Group.FAILURE, Side.CLIENT, "bad-request"),
    /** The access rules refuse it. */
    DENIED(Group.FAILURE, Side.CLIENT, "denied"),
    /** It asks for what this proxy does not do. */
    NOT_OFFERED(Group.FAILURE, Side.CLIENT, "not-offered"),
    /** No remap rule maps it. */
    NOT_MAPPED(Group.FAILURE, Side.CLIENT, "not-mapped"),
    /** The client left before the end. */
    CLIENT_GONE(Group.FAILURE, Side.CLIENT, "client-gone"),
    /** The origin could not be reached or gave no acceptable answer. */
    ORIGIN_FAILED(Group.FAILURE, Side.ORIGIN, "origin-failed"),
    /** The origin did not answer in time. */
    ORIGIN_TIMEOUT(Group.FAILURE, Side.ORIGIN, "origin-timeout"),
    /** The response broke off after its head because the origin's did. */
    TRUNCATED(Group.FAILURE, Side.ORIGIN, "truncated"),
    /** The response broke off after its head because the store failed. */
    STORE_READ(Group.FAILURE, Side.LOCAL, "store-read"),
    /** What had to be on the storage could not be written. */
    STORE_WRITE(Group.FAILURE, Side.LOCAL, "store-write"),
    /** A fault of the proxy's own. */
    INTERNAL(Group.FAILURE, Side.LOCAL, "internal");

    /** Whether the client got what it asked for. */
    public enum Group {
        /** It did. */
        SUCCESS,
        /** It did not. */
        FAILURE
    }

    /** Where the reason lies. */
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

    /** Whether the client got what it asked for. */
    public Group group() {
        return group;
    }

    /** Where the reason lies. */
    public Side side() {
        return side;
    }

    /** A stable word for logs, metrics and error pages. */
    public String text() {
        return text;
    }
}
