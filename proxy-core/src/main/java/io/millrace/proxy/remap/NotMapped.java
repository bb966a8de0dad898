package io.millrace.proxy.remap;

/**
 * The URL is not mapped, and so not proxied: nobody is let through to a host that no rule names. Immutable.
 *
 * @param reason why
 */
public record NotMapped(Reason reason) implements RemapResult {
    /** Why a URL is not mapped. */
    public enum Reason {
        /** No rule matches its host and path. */
        NO_RULE,
        /** It has no path to match: {@code *}, or the authority of a CONNECT. */
        NO_PATH,
        /** Its dot segments lead out of what the rule maps, once the origin resolves them (RFC 3986 s5.2.4). */
        LEAVES_RULE
    }

    /** No rule of those that were looked at matches. */
    public static final NotMapped NO_RULE = new NotMapped(Reason.NO_RULE);

    static final NotMapped NO_PATH = new NotMapped(Reason.NO_PATH);
    static final NotMapped LEAVES_RULE = new NotMapped(Reason.LEAVES_RULE);

    /** The status to answer with: 404, as Traffic Server answers what no rule maps. */
    public int status() {
        return 404;
    }
}
