package io.millrace.proxy.admin.resource;

import java.time.Duration;

/** One method on one path of the admin API. Implementations are thread-safe. */
public interface AdminResource {
    /** The time in which an answer must come. */
    Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

    /** {@code GET}, which changes nothing and answers HEAD too, or {@code POST}. */
    String method();

    /** The exact path. */
    String path();

    /**
     * Answers one request, now or later, through {@code responder}, or throws.
     *
     * <p>Called on the admin server's event loop, which it must not block, or, when {@link #isBlocking} says so, on the
     * admin server's worker thread.
     */
    void handle(AdminRequest request, AdminResponder responder) throws AdminException;

    /** Whether {@link #handle} reads files or waits. */
    default boolean isBlocking() {
        return false;
    }

    /** Whether it is answered on TCP without the token: only for what says nothing but up or down. */
    default boolean isPublic() {
        return false;
    }

    /** After this time without an answer the client gets a 504. */
    default Duration timeout() {
        return DEFAULT_TIMEOUT;
    }
}
