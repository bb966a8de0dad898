package io.millrace.acme;

/** Decides when a certificate is renewed. No state. */
final class RenewalTime {
    /** A window of ACME Renewal Information (RFC 9773 section 4.2), in seconds since 1970. */
    record Window(long startSeconds, long endSeconds) {}

    private static final long QUIET_SECONDS = 3600;

    private RenewalTime() {}

    /** When a third of the lifetime is left. */
    static long byLifetime(long issuedSeconds, long expirySeconds) {
        return expirySeconds - Math.max(0, expirySeconds - issuedSeconds) / 3;
    }

    /**
     * A time in the issuer's window. A window in the past means now, but not within an hour of the issuance: a faulty
     * issuer must not cause one order after another.
     *
     * @param fraction where in the window, from 0 to 1, chosen at random so that clients spread
     */
    static long byWindow(Window window, double fraction, long issuedSeconds, long expirySeconds) {
        long length = Math.max(0, window.endSeconds() - window.startSeconds());
        long wanted = window.startSeconds() + (long) (length * fraction);
        return Math.min(Math.max(wanted, issuedSeconds + QUIET_SECONDS), latest(issuedSeconds, expirySeconds));
    }

    /** No window is trusted that leaves less than a tenth of the lifetime. */
    private static long latest(long issuedSeconds, long expirySeconds) {
        return expirySeconds - Math.max(0, expirySeconds - issuedSeconds) / 10;
    }
}
