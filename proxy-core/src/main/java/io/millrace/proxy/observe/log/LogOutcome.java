package io.millrace.proxy.observe.log;

/** The outcomes of requests in access logs, with their result codes in the {@code squid} format. */
public enum LogOutcome {
    /** The request was answered; {@link CacheResult} says how. */
    OK(""),
    /** The request was denied by a rule. */
    DENIED("TCP_DENIED"),
    /** The client closed the connection before the end of the response. */
    CLIENT_ABORTED("ERR_CLIENT_ABORT"),
    /** The client's connection failed while its request was read. */
    CLIENT_READ_FAILED("ERR_CLIENT_READ_ERROR"),
    /** The request is not valid HTTP. */
    INVALID_REQUEST("ERR_INVALID_REQ"),
    /** The request target is not a valid URL, or no remap rule applies to it. */
    INVALID_URL("ERR_INVALID_URL"),
    /** The request content is larger than allowed. */
    REQUEST_TOO_LARGE("ERR_POST_ENTITY_TOO_LARGE"),
    /** The method or a feature is not supported. */
    UNSUPPORTED("ERR_UNSUP_REQ"),
    /** The request has passed through this proxy before. */
    LOOP("ERR_LOOP_DETECTED"),
    /** The origin's name could not be resolved. */
    DNS_FAILED("ERR_DNS_FAIL"),
    /** The connection to the origin failed. */
    CONNECT_FAILED("ERR_CONNECT_FAIL"),
    /** The origin did not respond in time. */
    ORIGIN_TIMEOUT("ERR_READ_TIMEOUT"),
    /** The origin's response was incomplete or is not valid HTTP. */
    ORIGIN_READ_FAILED("ERR_READ_ERROR"),
    /** The stored response could not be read from disk. */
    DISK_FAILED("ERR_DISK_IO"),
    /** The request failed for another reason. */
    FAILED("ERR_UNKNOWN");

    private static final LogOutcome[] VALUES = values();

    private final String squidCode;

    LogOutcome(String squidCode) {
        this.squidCode = squidCode;
    }

    /**
     * The result code of the {@code squid} format. Empty for {@link #OK}, whose code depends on the
     * {@link CacheResult}.
     */
    public String squidCode() {
        return squidCode;
    }

    /** Returns true if the response is missing or incomplete because of an origin, a disk or this proxy. */
    public boolean isFailure() {
        return switch (this) {
            case DNS_FAILED, CONNECT_FAILED, ORIGIN_TIMEOUT, ORIGIN_READ_FAILED, DISK_FAILED, FAILED -> true;
            default -> false;
        };
    }

    /** Index in records, which exist only within the process. */
    @SuppressWarnings("EnumOrdinal") // used only within the process: nothing depends on the order of the constants
    int index() {
        return ordinal();
    }

    static LogOutcome ofIndex(int index) {
        return VALUES[index];
    }
}
