package io.millrace.proxy.http2;

/**
 * The limit of concurrent streams of one client connection. A lower limit takes effect when the client has
 * acknowledged it. Until then, the previous limit applies (RFC 9113 s6.5.3).
 *
 * <p>Confined to one event loop.
 */
final class StreamLimit {
    private int announced;
    private int inForce;
    /** Number of SETTINGS frames with a limit that the client has not acknowledged. */
    private int unacknowledgedFrames;

    private boolean anyAcknowledged;

    /** Records a limit that was announced by SETTINGS. */
    void announce(int streams) {
        announced = streams;
        inForce = Math.max(inForce, streams);
        unacknowledgedFrames++;
    }

    /** The limit that was announced last. */
    int announced() {
        return announced;
    }

    /** Records that the client acknowledged SETTINGS. */
    void onAcknowledgement() {
        anyAcknowledged = true;
        if (unacknowledgedFrames > 0) {
            unacknowledgedFrames--;
        }
        if (unacknowledgedFrames == 0) {
            inForce = announced;
        }
    }

    /** The limit in force. */
    int max() {
        return inForce;
    }

    /**
     * Returns true if the client has acknowledged a limit. A client that does not know the limit yet may exceed it
     * without fault.
     */
    boolean isKnown() {
        return anyAcknowledged;
    }
}
