package io.millrace.proxy.remap;

/**
 * The result for a URL that no remap rule maps. The request is refused, because clients may reach only mapped
 * hosts. Immutable.
 *
 * @param reason the reason
 */
public record NotMapped(Reason reason) implements RemapResult {
    /** The reasons why a URL is not mapped. */
    public enum Reason {
        /** No rule matches the host and path. */
        NO_RULE,
        /** The target has no path: {@code *}, or the authority of a CONNECT. */
        NO_PATH,
        /** Dot segments in the path would lead the origin out of the rule's target path (RFC 3986 s5.2.4). */
        LEAVES_RULE
    }

    /** The result if no rule matches. */
    public static final NotMapped NO_RULE = new NotMapped(Reason.NO_RULE);

    static final NotMapped NO_PATH = new NotMapped(Reason.NO_PATH);
    static final NotMapped LEAVES_RULE = new NotMapped(Reason.LEAVES_RULE);

    /** The status of the response: 404, as in Traffic Server for unmapped URLs. */
    public int status() {
        return 404;
    }
}
