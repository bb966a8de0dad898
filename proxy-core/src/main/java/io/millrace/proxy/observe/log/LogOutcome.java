package io.millrace.proxy.observe.log;

/** How a request ended, for the access log: the {@code squid} format has its own result codes for failures. */
public enum LogOutcome {
    /** Answered; the cache result says how. */
    OK(""),
    /** Refused by rule. */
    DENIED("TCP_DENIED"),
    /** The client left before the end of the response. */
    CLIENT_ABORTED("ERR_CLIENT_ABORT"),
    /** The client's connection failed while its request was read. */
    CLIENT_READ_FAILED("ERR_CLIENT_READ_ERROR"),
    /** The request is not valid HTTP. */
    INVALID_REQUEST("ERR_INVALID_REQ"),
    /** The request's target is not a valid URL or not mapped. */
    INVALID_URL("ERR_INVALID_URL"),
    /** The request's body is larger than allowed. */
    REQUEST_TOO_LARGE("ERR_POST_ENTITY_TOO_LARGE"),
    /** The method or a feature is not supported. */
    UNSUPPORTED("ERR_UNSUP_REQ"),
    /** The request passed through this proxy before. */
    LOOP("ERR_LOOP_DETECTED"),
    /** The origin's name did not resolve. */
    DNS_FAILED("ERR_DNS_FAIL"),
    /** No connection to the origin. */
    CONNECT_FAILED("ERR_CONNECT_FAIL"),
    /** The origin did not answer in time. */
    ORIGIN_TIMEOUT("ERR_READ_TIMEOUT"),
    /** The origin's response broke off or is not valid HTTP. */
    ORIGIN_READ_FAILED("ERR_READ_ERROR"),
    /** The stored response could not be read from disk. */
    DISK_FAILED("ERR_DISK_IO"),
    /** Failed otherwise. */
    FAILED("ERR_UNKNOWN");

    private static final LogOutcome[] VALUES = values();

    private final String squidCode;

    LogOutcome(String squidCode) {
        this.squidCode = squidCode;
    }

    /** The result code of the {@code squid} format; empty for {@link #OK}, where the cache result decides. */
    public String squidCode() {
        return squidCode;
    }

    /** The place in records, which never leave the process. */
    @SuppressWarnings("EnumOrdinal") // nothing outside the process depends on the order of the constants
    int index() {
        return ordinal();
    }

    static LogOutcome ofIndex(int index) {
        return VALUES[index];
    }
}
