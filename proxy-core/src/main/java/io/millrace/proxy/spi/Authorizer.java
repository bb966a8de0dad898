package io.millrace.proxy.spi;

/**
 * The hook that decides if a client may have a resource. The authorizers of all extensions are called before the first
 * {@link RequestHook}. An answer counts as a refusal, with the Cache-Status detail {@code extension:NAME}.
 *
 * <p>A failure refuses the request with 503 by default ({@code on_error: closed}).
 */
public interface Authorizer {
    /**
     * Decides about a request. Called on its event loop. The request waits until a method of {@code reply} is called,
     * during this call or later, on any thread. {@link RequestHook.Reply#proceed()} permits the request;
     * {@link RequestHook.Reply#answer} refuses it, for example with 401 or a redirect to a login.
     */
    void authorize(RequestView request, RequestHook.Reply reply);
}
