package io.millrace.proxy.http2;

import io.netty.buffer.ByteBuf;

/**
 * The priority of a response (RFC 9218 s4): its urgency, and whether it is incremental.
 *
 * <p>Confined to one event loop.
 */
final class StreamPriority {
    /** Number of urgency levels; 0 is the most urgent. */
    static final int URGENCIES = 8;

    private static final int URGENCY_DEFAULT = 3;

    private int urgency = URGENCY_DEFAULT;
    private boolean incremental;

    int urgency() {
        return urgency;
    }

    /**
     * Returns true if the client can use parts of the response. Such a response shares the connection with other
     * incremental responses of the same urgency.
     */
    boolean isIncremental() {
        return incremental;
    }

    /** Reads the value of a Priority field. Missing or malformed members get their defaults. */
    void read(byte[] bytes, int from, int to) {
        int newUrgency = URGENCY_DEFAULT;
        boolean newIncremental = false;
        int at = from;
        while (at < to) {
            int end = at;
            while (end < to && bytes[end] != ',') {
                end++;
            }
            while (at < end && bytes[at] == ' ') {
                at++;
            }
            int length = memberLength(bytes, at, end);
            if (length == 3 && bytes[at] == 'u' && bytes[at + 1] == '=') {
                int value = bytes[at + 2] - '0';
                newUrgency = value >= 0 && value < URGENCIES ? value : newUrgency;
            } else if (length >= 1 && bytes[at] == 'i') {
                boolean isTrue = length == 1 || (length == 4 && bytes[at + 1] == '=' && bytes[at + 3] == '1');
                boolean isFalse = length == 4 && bytes[at + 1] == '=' && bytes[at + 3] == '0';
                newIncremental = isTrue || (newIncremental && !isFalse);
            }
            at = end + 1;
        }
        urgency = newUrgency;
        incremental = newIncremental;
    }

    /** Reads the value of a PRIORITY_UPDATE frame. The buffer is borrowed. */
    void read(ByteBuf in, int index, int length) {
        byte[] bytes = new byte[length];
        in.getBytes(index, bytes);
        read(bytes, 0, length);
    }

    /** Copies another priority. */
    void set(StreamPriority other) {
        urgency = other.urgency;
        incremental = other.incremental;
    }

    /** Returns the length of a dictionary member without its parameters. */
    private static int memberLength(byte[] bytes, int from, int to) {
        int end = from;
        while (end < to && bytes[end] != ';' && bytes[end] != ' ') {
            end++;
        }
        return end - from;
    }
}
