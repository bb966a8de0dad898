package io.millrace.proxy.http2;

/**
 * The number of streams that a client may have open: what was announced to it and, until it has acknowledged a lower number, the
 * one before (RFC 9113 s6.5.3).
 *
 * <p>Confined to one event loop.
 */
final class StreamLimit {
    private int announced;
    private int inForce;
    private int unacknowledged;
    private boolean anyAcknowledged;

    /** The number is announced by SETTINGS. */
    void announce(int streams) {
        announced = streams;
        inForce = Math.max(inForce, streams);
        unacknowledged++;
    }

    /** The number that was announced last. */
    int announced() {
        return announced;
    }

    /** The client acknowledges SETTINGS. */
    void onAcknowledgement() {
        anyAcknowledged = true;
        if (unacknowledged > 0) {
            unacknowledged--;
        }
        if (unacknowledged == 0) {
            inForce = announced;
        }
    }

    /** The number that holds now. */
    int max() {
        return inForce;
    }

    /** Whether the client knows of a limit: one that does not may begin as many streams as it likes. */
    boolean isKnown() {
        return anyAcknowledged;
    }
}
