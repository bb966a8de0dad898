package io.millrace.proxy.admin.resource;

/**
 * A resource of a test, which a function answers.
 *
 * @param handler answers the requests
 */
public record StubResource(String method, String path, boolean isBlocking, Handler handler) implements AdminResource {
    /** Handles a request as {@link AdminResource#handle} does. */
    @FunctionalInterface
    public interface Handler {
        void handle(AdminRequest request, AdminResponder responder) throws AdminException;
    }

    public StubResource(String method, String path, Handler handler) {
        this(method, path, false, handler);
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        handler.handle(request, responder);
    }
}
