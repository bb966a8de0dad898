package io.millrace.proxy.tls.ocsp;

/**
 * A verified answer of an OCSP responder: the certificate is good. Immutable; compared by identity.
 *
 * <p>Times are in milliseconds since 1970.
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

    /** The OCSPResponse, as the handshake carries it. */
    public byte[] der() {
        return der.clone();
    }

    /** Until when clients accept it. */
    public long nextUpdateMillis() {
        return nextUpdateMillis;
    }

    /** Whether it may be sent: before its end by a minute, or by a tenth of a short validity. */
    public boolean isUsable(long nowMillis) {
        return nowMillis < nextUpdateMillis - Math.min(MARGIN_MILLIS, (nextUpdateMillis - thisUpdateMillis) / 10);
    }

    /** When the next one is asked for: at half of the validity, or of what is left of it. */
    long refreshMillis(long nowMillis) {
        long half = thisUpdateMillis + (nextUpdateMillis - thisUpdateMillis) / 2;
        return nowMillis < half ? half : nowMillis + Math.max(0, nextUpdateMillis - nowMillis) / 2;
    }

    boolean isNewerThan(Staple other) {
        return nextUpdateMillis > other.nextUpdateMillis;
    }
}
