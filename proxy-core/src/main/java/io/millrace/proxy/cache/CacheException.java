package io.millrace.proxy.cache;

/** The reason why a request to {@link ProxyCache} failed. */
public final class CacheException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String code;

    /**
     * Creates a failure.
     *
     * @param code the error code for programs, such as {@code bad-url}
     * @param message the problem and its remedy
     */
    public CacheException(String code, String message) {
        super(message);
        this.code = code;
    }

    /** The error code, as in errors of the admin API; {@code closed} if the proxy is closed. */
    public String code() {
        return code;
    }
}
