package io.millrace.proxy.tls.ocsp;

/**
 * A verified OCSP response with the status good. Immutable; compared by identity.
 *
 * <p>Times are in epoch milliseconds.
 */
public final class Staple {
    /** Margin for clients whose clock is fast: a staple is no longer sent this long before it expires. */
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

    /** The time until which clients accept the staple. */
    public long nextUpdateMillis() {
        return nextUpdateMillis;
    }

    /**
     * Returns true if the staple may be sent: until a minute before its end, or a tenth of its validity if that is
     * shorter.
     */
    public boolean isUsable(long nowMillis) {
        return nowMillis < nextUpdateMillis - Math.min(MARGIN_MILLIS, (nextUpdateMillis - thisUpdateMillis) / 10);
    }

    /** Returns the time of the next query: at half of the validity, or of the remaining validity if that is past. */
    long refreshMillis(long nowMillis) {
        long half = thisUpdateMillis + (nextUpdateMillis - thisUpdateMillis) / 2;
        return nowMillis < half ? half : nowMillis + Math.max(0, nextUpdateMillis - nowMillis) / 2;
    }

    boolean isNewerThan(Staple other) {
        return nextUpdateMillis > other.nextUpdateMillis;
    }
}
