package io.millrace.proxy.admin.resource;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Converts an exception of a resource to an error answer. Thread-safe: no state. */
public final class FailureReply {
    private static final Logger LOGGER = LoggerFactory.getLogger(FailureReply.class);

    private FailureReply() {}

    /** Converts an exception of a resource to an error answer. Logs an unexpected exception. */
    public static AdminReply of(Throwable thrown) {
        return AdminReply.error(exceptionOf(thrown));
    }

    /** Converts an exception of a resource to an {@link AdminException}. Logs an unexpected exception. */
    public static AdminException exceptionOf(Throwable thrown) {
        Throwable failure = thrown;
        while ((failure instanceof CompletionException || failure instanceof ExecutionException)
                && failure.getCause() != null) {
            failure = failure.getCause();
        }
        if (failure instanceof AdminException error) {
            return error;
        }
        LOGGER.warn("an admin request failed", failure);
        return new AdminException(500, "internal-error", "the request failed inside the proxy: " + failure);
    }
}
