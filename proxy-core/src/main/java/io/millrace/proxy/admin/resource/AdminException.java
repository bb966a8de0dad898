package io.millrace.proxy.admin.resource;

/** An error answer of the admin API. It has a status, a stable code, and a sentence for display. */
public final class AdminException extends Exception {
    private final int status;
    private final String code;
    private final long retryAfterSeconds;

    /**
     * Creates an error answer.
     *
     * @param status the HTTP status, 400 to 599
     * @param code the error code for programs, such as {@code not-found}
     * @param message the problem and its remedy
     */
    public AdminException(int status, String code, String message) {
        this(status, code, message, 0);
    }

    /**
     * Creates an error answer that tells the client when to try again.
     *
     * @param retryAfterSeconds value of the field Retry-After; 0 for none
     */
    public AdminException(int status, String code, String message, long retryAfterSeconds) {
        super(message, null, false, false);
        this.status = status;
        this.code = code;
        this.retryAfterSeconds = retryAfterSeconds;
    }

    /** Seconds after which the request may succeed; 0 if that is not known. */
    public long retryAfterSeconds() {
        return retryAfterSeconds;
    }

    /** The HTTP status. */
    public int status() {
        return status;
    }

    /** The stable code. */
    public String code() {
        return code;
    }

    /** The sentence for display: the problem and its remedy. */
    public String message() {
        return String.valueOf(getMessage());
    }
}
