package io.millrace.proxy.http1;

import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ConnectionEnd;

/** Handles the client's shutdown of its output (half-close). */
final class InputShutdown {
    private InputShutdown() {}

    /**
     * Handles the shutdown. Complete requests are answered, then the connection is closed; an incomplete request fails.
     * A client that no longer reads is recognized only by a reset or a failed write.
     */
    static void handle(Http1Connection connection) {
        Http1Stream current = connection.stream();
        if (connection.isClosing()) {
            ConnectionEnd.closeAfterWrites(connection.context());
        } else if (current == null) {
            closeWhenAnswered(connection);
        } else if (current.isRequestEnded()) {
            if (connection.requestQueue().isEmpty() && !current.mayLeaveHttp() && !current.isHeadWritten()) {
                current.closeAfter();
            }
        } else if (current.isResponseEnded()) {
            connection.lingerAndClose();
        } else {
            current.failRequest(BadRequest.CONTENT_INCOMPLETE);
        }
    }

    /**
     * Closes the connection if all requests received before the shutdown are answered. The check runs later, after the
     * requests that the decoder still buffers.
     */
    static void closeWhenAnswered(Http1Connection connection) {
        connection.context().executor().execute(() -> {
            if (connection.stream() == null
                    && connection.tunnel() == null
                    && connection.requestQueue().isEmpty()) {
                connection.lingerAndClose();
            }
        });
    }
}
