package io.millrace.proxy.admin.resource;

import java.time.Duration;

/** A resource of the admin API: one method on one path. Implementations are thread-safe. */
public interface AdminResource {
    /** The default time limit of an answer. */
    Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

    /** Returns the method: {@code GET}, which changes nothing and also answers HEAD, or {@code POST}. */
    String method();

    /** Returns the exact path, or a path with variable segments as in {@link PathTemplate}. */
    String path();

    /**
     * Answers one request with the responder, now or later, or throws.
     *
     * <p>Called on the admin server's event loop, which must not be blocked. If {@link #isBlocking} returns true,
     * called on the admin server's thread for blocking requests.
     */
    void handle(AdminRequest request, AdminResponder responder) throws AdminException;

    /** Returns whether {@link #handle} reads files or waits. */
    default boolean isBlocking() {
        return false;
    }

    /** Returns whether TCP requests need no token: health checks, the files of the dashboard, and its login. */
    default boolean isPublic() {
        return false;
    }

    /** Returns the time limit of an answer, after which the client gets status 504. */
    default Duration timeout() {
        return DEFAULT_TIMEOUT;
    }
}
