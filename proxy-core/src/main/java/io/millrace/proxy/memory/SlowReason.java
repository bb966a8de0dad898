package io.millrace.proxy.memory;

/** The reason for closing the connection (or stream) of a client that received its response too slowly. */
public enum SlowReason {
    /** The client received nothing for {@code timeouts.client_body}. */
    TIMEOUT("send-timeout"),
    /** The client received less than {@code limits.response_rate_min}. */
    RATE("send-rate"),
    /** The memory for bytes in flight was scarce. */
    MEMORY("slow-memory"),
    /** Other requests needed the origin connection that this client's response occupied. */
    ORIGIN("slow-origin");

    private final String text;

    SlowReason(String text) {
        this.text = text;
    }

    /** The stable text for logs. */
    public String text() {
        return text;
    }
}
