package io.millrace.acme;

/** Computes the renewal time of a certificate. Stateless. */
final class RenewalTime {
    /** A window of ACME Renewal Information (RFC 9773 section 4.2), in seconds since 1970. */
    record Window(long startSeconds, long endSeconds) {}

    /** Shortest time between the issuance and the renewal. */
    private static final long QUIET_SECONDS = 3600;

    private RenewalTime() {}

    /** Returns the time when a third of the lifetime is left. */
    static long byLifetime(long issuedSeconds, long expirySeconds) {
        return expirySeconds - Math.max(0, expirySeconds - issuedSeconds) / 3;
    }

    /**
     * Returns a time in the issuer's window, which may be in the past. The time is at least one hour after the
     * issuance, so that a faulty issuer cannot cause an endless series of orders.
     *
     * @param fraction random position in the window from 0 to 1, which spreads the renewals of many clients
     */
    static long byWindow(Window window, double fraction, long issuedSeconds, long expirySeconds) {
        long length = Math.max(0, window.endSeconds() - window.startSeconds());
        long suggested = window.startSeconds() + (long) (length * fraction);
        return Math.min(Math.max(suggested, issuedSeconds + QUIET_SECONDS), latest(issuedSeconds, expirySeconds));
    }

    /**
     * Returns the latest renewal time, a tenth of the lifetime before the expiry. It applies if the time in the
     * issuer's window is later.
     */
    private static long latest(long issuedSeconds, long expirySeconds) {
        return expirySeconds - Math.max(0, expirySeconds - issuedSeconds) / 10;
    }
}
