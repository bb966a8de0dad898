package io.millrace.proxy.tls.ocsp;

/**
 * An OCSP staple: a verified OCSP response with the status good. Immutable; compared by identity.
 *
 * <p>Times are in epoch milliseconds.
 */
public final class Staple {
    /** Time before its expiry at which a staple is no longer sent. Clocks of clients may be ahead. */
    private static final long MARGIN_MILLIS = 60_000;

    private final byte[] der;
    private final long thisUpdateMillis;
    private final long nextUpdateMillis;

    Staple(byte[] der, long thisUpdateMillis, long nextUpdateMillis) {
        this.der = der.clone();
        this.thisUpdateMillis = thisUpdateMillis;
        this.nextUpdateMillis = nextUpdateMillis;
    }

    /** Returns the encoded OCSPResponse, as sent in the handshake. */
    public byte[] der() {
        return der.clone();
    }

    /** The expiry of the staple (nextUpdate). Clients do not accept it afterwards. */
    public long nextUpdateMillis() {
        return nextUpdateMillis;
    }

    /**
     * Returns true if the staple may be sent. It may be sent until a minute before its expiry, or a tenth of its
     * validity if that is shorter.
     */
    public boolean isUsable(long nowMillis) {
        return nowMillis < nextUpdateMillis - Math.min(MARGIN_MILLIS, (nextUpdateMillis - thisUpdateMillis) / 10);
    }

    /**
     * Returns the time of the next request. This is the middle of the validity, or of the remaining validity if the
     * middle has passed.
     */
    long refreshMillis(long nowMillis) {
        long half = thisUpdateMillis + (nextUpdateMillis - thisUpdateMillis) / 2;
        return nowMillis < half ? half : nowMillis + Math.max(0, nextUpdateMillis - nowMillis) / 2;
    }

    boolean isNewerThan(Staple other) {
        return nextUpdateMillis > other.nextUpdateMillis;
    }
}
