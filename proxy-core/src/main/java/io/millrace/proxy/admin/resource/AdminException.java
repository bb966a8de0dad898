package io.millrace.proxy.admin.resource;

/** A request to the admin API that gets an error for an answer: a status, a stable code, and a sentence for people. */
public final class AdminException extends Exception {
    private final int status;
    private final String code;

    /**
     * An error answer.
     *
     * @param status an HTTP status, 400 to 599
     * @param code a stable word for programs, such as {@code not-found}
     * @param message what is wrong and what to do about it
     */
    public AdminException(int status, String code, String message) {
        super(message, null, false, false);
        this.status = status;
        this.code = code;
    }

    /** The HTTP status. */
    public int status() {
        return status;
    }

    /** The stable word. */
    public String code() {
        return code;
    }

    /** The sentence. */
    public String message() {
        return String.valueOf(getMessage());
    }
}
