package io.millrace.proxy.memory;

/** Why a client was closed that took its response too slowly. */
public enum SlowReason {
    /** It took nothing for {@code timeouts.client_body}. */
    TIMEOUT("send-timeout"),
    /** It took less than {@code limits.response_rate_min}. */
    RATE("send-rate"),
    /** The memory for bytes in flight was scarce. */
    MEMORY("slow-memory"),
    /** Other requests wait for the origin connection that it holds. */
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
