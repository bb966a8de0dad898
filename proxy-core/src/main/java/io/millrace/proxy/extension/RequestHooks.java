package io.millrace.proxy.extension;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.spi.Answer;
import io.millrace.proxy.spi.Authorizer;
import io.millrace.proxy.spi.CacheKeyHook;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.DeliveredResponse;
import io.millrace.proxy.spi.LookupHook;
import io.millrace.proxy.spi.MutableFields;
import io.millrace.proxy.spi.OriginResolver;
import io.millrace.proxy.spi.RequestHook;
import io.millrace.proxy.spi.RequestView;
import io.netty.util.concurrent.EventExecutor;
import java.net.URI;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The hooks of extensions for one request: calls the hooks and keeps their results. Created for requests whose remap
 * rule has hooks.
 *
 * <p>Confined to one event loop.
 */
public final class RequestHooks {
    /** The state of the hooks that decide about the request. */
    public enum Progress {
        /** All hooks let the request continue. */
        PROCEED,
        /** A hook has not ended yet; see {@link #await}. */
        WAIT,
        /** A hook answers the request: {@link #answer}. */
        ANSWER,
        /** A hook failed, and its failure refuses the request. */
        FAILED
    }

    /** Prefix of Cache-Status details that name an extension. */
    public static final String DETAIL_PREFIX = "extension:";

    private static final Hook[] DECIDING = {Hook.AUTHORIZE, Hook.REQUEST_RECEIVED};

    private final HookChain chain;
    private final ClientRequest view;
    /** Index of the current hook in {@link #DECIDING}. */
    private int hookIndex;

    /** Index of the current extension among those that implement the current hook. */
    private int extensionIndex;

    private @Nullable RequestReply reply;
    private @Nullable Answer answer;
    private FieldSection answerFields = FieldSection.EMPTY;
    private @Nullable String decidedBy;
    private boolean refused;
    /** True if the failure of an origin, key or lookup hook refuses the request. */
    private boolean failsClosed;

    private @Nullable String failed;

    /** @param contentLength length of the request content in bytes; {@code RequestReceiver.CHUNKED} if unknown */
    public RequestHooks(
            HookChain chain, ClientConnection client, AccessRules access, RemapRule rule, long contentLength) {
        this.chain = chain;
        this.view = new ClientRequest(client, access, rule, contentLength);
    }

    /** The extensions whose hooks the request calls. */
    public HookChain chain() {
        return chain;
    }

    ClientRequest view() {
        return view;
    }

    /** The name of the first extension that failed or was not called for this request; null for none. */
    public @Nullable String failed() {
        return failed;
    }

    /** Notes that an extension failed, for Cache-Status. */
    void noteFailed(LoadedExtension extension) {
        if (failed == null) {
            failed = extension.name();
        }
    }

    // Decision about the request

    /** Calls the hooks that decide about the request, or continues after {@link Progress#WAIT}. */
    public Progress decide(RequestHead request) {
        for (; hookIndex < DECIDING.length; hookIndex++) {
            Hook hook = DECIDING[hookIndex];
            LoadedExtension[] extensions = chain.of(hook);
            for (; extensionIndex < extensions.length; extensionIndex++) {
                Progress progress = step(extensions[extensionIndex], hook, request);
                if (progress != Progress.PROCEED) {
                    return progress;
                }
            }
            extensionIndex = 0;
        }
        return Progress.PROCEED;
    }

    /** Calls the hook of one extension, or applies its result if that has arrived. */
    private Progress step(LoadedExtension extension, Hook hook, RequestHead request) {
        if (answer != null) {
            return Progress.ANSWER;
        }
        RequestReply current = reply;
        if (current == null) {
            if (!extension.admits(hook)) {
                return afterFailure(extension, hook);
            }
            current = call(extension, hook, request);
        }
        Object result = current.result();
        if (result == null) {
            reply = current;
            return Progress.WAIT;
        }
        reply = null;
        return applyResult(extension, hook, result, request);
    }

    /** Calls a hook, whose result may arrive later. */
    private RequestReply call(LoadedExtension extension, Hook hook, RequestHead request) {
        RequestReply called = new RequestReply(extension, hook);
        long began = extension.now();
        try {
            extension.begin(hook, began);
            if (hook == Hook.AUTHORIZE) {
                ((Authorizer) extension.extension()).authorize(view.begin(request), called);
            } else {
                ((RequestHook) extension.extension()).requestReceived(view.begin(request), called);
            }
        } catch (Throwable e) {
            called.setThrown(e);
        } finally {
            view.end();
            extension.end(hook, began);
        }
        return called;
    }

    private Progress applyResult(LoadedExtension extension, Hook hook, Object result, RequestHead request) {
        Object outcome = result;
        if (outcome instanceof Consumer<?> change && outcome != HookReply.UNCHANGED) {
            outcome = changed(extension, hook, change, request);
        }
        if (outcome instanceof Answer given) {
            try {
                answerFields = EditedFields.fieldsOf(given);
            } catch (RuntimeException e) {
                failed(extension, hook, e);
                return afterFailure(extension, hook);
            }
            extension.succeeded(hook);
            answer = given;
            decidedBy = extension.name();
            refused = hook == Hook.AUTHORIZE;
            return Progress.ANSWER;
        }
        if (outcome instanceof Throwable fault) {
            failed(extension, hook, fault);
            return afterFailure(extension, hook);
        }
        extension.succeeded(hook);
        return Progress.PROCEED;
    }

    /**
     * Runs the callback that the hook returned, with the request view. Returns the callback, or the exception that it
     * threw.
     */
    @SuppressWarnings("unchecked") // safe: a RequestReply accepts only callbacks for a RequestView
    private Object changed(LoadedExtension extension, Hook hook, Consumer<?> change, RequestHead request) {
        long began = extension.now();
        try {
            extension.begin(hook, began);
            ((Consumer<RequestView>) change).accept(view.begin(request));
            return change;
        } catch (Throwable e) {
            return e;
        } finally {
            view.end();
            extension.end(hook, began);
        }
    }

    /** Records that a hook has exceeded its deadline or thrown an exception. */
    static void failed(LoadedExtension extension, Hook hook, Throwable fault) {
        if (fault instanceof HookReply.DeadlineException) {
            extension.failed(hook, FailureReason.DEADLINE, fault);
        } else {
            extension.failed(hook, fault);
        }
    }

    /** Returns {@link Progress#PROCEED} if a failure of the hook has no effect on the request. */
    private Progress afterFailure(LoadedExtension extension, Hook hook) {
        noteFailed(extension);
        if (extension.onError(hook) == OnError.OPEN) {
            return Progress.PROCEED;
        }
        decidedBy = extension.name();
        return Progress.FAILED;
    }

    /**
     * Waits for the hook that has not ended yet.
     *
     * @param then runs on the loop; calls {@link #decide} again
     */
    public void await(EventExecutor loop, Runnable then) {
        RequestReply current = reply;
        if (current == null) {
            throw new IllegalStateException("await() is only permitted after decide() has returned WAIT");
        }
        current.await(loop, then);
    }

    /** Stops waiting, because the request has ended. */
    public void forget() {
        if (reply != null) {
            reply.forget();
            reply = null;
        }
    }

    /** The answer of an extension. */
    public Answer answer() {
        if (answer == null) {
            throw new IllegalStateException("answer() is only permitted after decide() has returned ANSWER");
        }
        return answer;
    }

    /** The fields of the answer. */
    public FieldSection answerFields() {
        return answerFields;
    }

    /** Returns true if the answer refuses the request. */
    public boolean isRefused() {
        return refused;
    }

    /** The name of the extension that answered, or whose failure refuses the request. */
    public String decidedBy() {
        return decidedBy == null ? "" : decidedBy;
    }

    // Origin

    /** Returns true if {@link #resolve} may choose the origin. */
    public boolean choosesOrigin() {
        return chain.has(Hook.ORIGIN_RESOLVE);
    }

    /**
     * Returns the origin that the first extension with a choice has chosen; null for the origin of the rule, or if a
     * failure refuses the request.
     */
    public @Nullable URI resolve(RequestHead request) {
        for (LoadedExtension extension : chain.of(Hook.ORIGIN_RESOLVE)) {
            if (!extension.admits(Hook.ORIGIN_RESOLVE)) {
                noteFailed(extension, Hook.ORIGIN_RESOLVE);
                continue;
            }
            long began = extension.now();
            try {
                extension.begin(Hook.ORIGIN_RESOLVE, began);
                URI chosen = ((OriginResolver) extension.extension()).resolve(view.begin(request));
                if (chosen != null) {
                    checkOrigin(chosen);
                    extension.succeeded(Hook.ORIGIN_RESOLVE);
                    return chosen;
                }
                extension.succeeded(Hook.ORIGIN_RESOLVE);
            } catch (Throwable e) {
                extension.failed(Hook.ORIGIN_RESOLVE, e);
                noteFailed(extension, Hook.ORIGIN_RESOLVE);
            } finally {
                view.end();
                extension.end(Hook.ORIGIN_RESOLVE, began);
            }
        }
        return null;
    }

    private static void checkOrigin(URI origin) {
        boolean isHttp = "http".equalsIgnoreCase(origin.getScheme()) || "https".equalsIgnoreCase(origin.getScheme());
        String path = origin.getRawPath();
        if (!isHttp
                || origin.getHost() == null
                || origin.getRawUserInfo() != null
                || origin.getPort() == 0
                || origin.getPort() > 65_535
                || !(path == null || path.isEmpty() || path.equals("/"))
                || origin.getRawQuery() != null) {
            throw new IllegalArgumentException("an origin needs scheme http or https, a host and a port: " + origin);
        }
    }

    /**
     * Records the failure of an origin, key or lookup hook. The failure refuses the request if the extension is
     * configured to fail closed.
     */
    private void noteFailed(LoadedExtension extension, Hook hook) {
        noteFailed(extension);
        if (extension.onError(hook) == OnError.CLOSED) {
            failsClosed = true;
            decidedBy = extension.name();
        }
    }

    // Cache key and lookup

    /** Returns true if {@link #keyParts} must be added to the cache key of the request. */
    public boolean changesKeys() {
        return chain.has(Hook.CACHE_KEY);
    }

    /**
     * Returns the parts of the cache key of the request.
     *
     * @return the parts, beginning with a space; empty for none; null if a hook failed
     */
    public byte @Nullable [] keyParts(RequestHead request) {
        KeyParts parts = new KeyParts();
        for (LoadedExtension extension : chain.of(Hook.CACHE_KEY)) {
            if (!extension.admits(Hook.CACHE_KEY)) {
                noteFailed(extension, Hook.CACHE_KEY);
                return null;
            }
            long began = extension.now();
            try {
                extension.begin(Hook.CACHE_KEY, began);
                parts.begin(extension.name());
                ((CacheKeyHook) extension.extension()).cacheKey(view.begin(request), parts);
                extension.succeeded(Hook.CACHE_KEY);
            } catch (Throwable e) {
                extension.failed(Hook.CACHE_KEY, e);
                noteFailed(extension, Hook.CACHE_KEY);
                return null;
            } finally {
                view.end();
                extension.end(Hook.CACHE_KEY, began);
            }
        }
        return parts.bytes();
    }

    /** Returns true if the failure of an origin, key or lookup hook refuses the request. */
    public boolean failsClosed() {
        return failsClosed;
    }

    /** Returns true if {@link #lookupDone} may change the use of stored responses. */
    public boolean changesLookups() {
        return chain.has(Hook.LOOKUP_DONE);
    }

    /** Returns how the stored response may be used. If extensions disagree, BYPASS wins over VALIDATE. */
    public LookupHook.Action lookupDone(RequestHead request, LookupHook.State state) {
        LookupHook.Action action = LookupHook.Action.PROCEED;
        for (LoadedExtension extension : chain.of(Hook.LOOKUP_DONE)) {
            if (!extension.admits(Hook.LOOKUP_DONE)) {
                noteFailed(extension, Hook.LOOKUP_DONE);
                continue;
            }
            long began = extension.now();
            try {
                extension.begin(Hook.LOOKUP_DONE, began);
                LookupHook.Action wanted = Objects.requireNonNull(
                        ((LookupHook) extension.extension()).lookupDone(view.begin(request), state), "no action");
                action = wanted.compareTo(action) > 0 ? wanted : action;
                extension.succeeded(Hook.LOOKUP_DONE);
            } catch (Throwable e) {
                extension.failed(Hook.LOOKUP_DONE, e);
                noteFailed(extension, Hook.LOOKUP_DONE);
            } finally {
                view.end();
                extension.end(Hook.LOOKUP_DONE, began);
            }
        }
        return action;
    }

    /** Returns true if extensions may transform the content of responses. */
    public boolean transformsBodies() {
        return chain.has(Hook.BODY_TRANSFORM);
    }

    // Delivery

    /** Returns true if response heads of the request are passed to {@link #deliver}. */
    public boolean changesResponses() {
        return chain.has(Hook.DELIVER);
    }

    /**
     * Lets the extensions change an otherwise complete response head.
     *
     * @param cacheResult the cache result as a metric label
     */
    public void deliver(RequestHead request, OutboundHead head, String cacheResult) {
        for (LoadedExtension extension : chain.of(Hook.DELIVER)) {
            FieldEdits constants = extension.constants();
            if (constants != null) {
                // An extension with fixed edits needs no call.
                head.edit(constants);
                continue;
            }
            if (!extension.admits(Hook.DELIVER)) {
                continue;
            }
            Delivered response = new Delivered(head, cacheResult);
            long began = extension.now();
            try {
                extension.begin(Hook.DELIVER, began);
                ((DeliverHook) extension.extension()).deliver(view.begin(request), response);
                response.apply();
                extension.succeeded(Hook.DELIVER);
            } catch (Throwable e) {
                extension.failed(Hook.DELIVER, e);
            } finally {
                view.end();
                response.end();
                extension.end(Hook.DELIVER, began);
            }
        }
    }

    /** The result of a hook for received requests. Threads as in {@link HookReply}. */
    private static final class RequestReply extends HookReply<RequestView> implements RequestHook.Reply {
        RequestReply(LoadedExtension extension, Hook hook) {
            super(extension, hook);
        }

        @Override
        public void answer(Answer answer) {
            complete(Objects.requireNonNull(answer));
        }
    }

    /** The view of a response head for extensions. Confined to one event loop. */
    private static final class Delivered implements DeliveredResponse {
        private final String cacheResult;
        private @Nullable OutboundHead head;
        private final EditedFields fields = new EditedFields(null, EditedFields.FIXED_IN_RESPONSES) {
            @Override
            FieldSection read() {
                return head().fieldsAfterEdits();
            }
        };

        Delivered(OutboundHead head, String cacheResult) {
            this.head = head;
            this.cacheResult = cacheResult;
        }

        private OutboundHead head() {
            OutboundHead now = head;
            if (now == null) {
                throw new IllegalStateException("the response is valid only during the call of the hook");
            }
            return now;
        }

        void apply() {
            FieldEdits edits = fields.edits();
            if (edits != null) {
                head().edit(edits);
            }
        }

        void end() {
            head = null;
        }

        @Override
        public int status() {
            return head().status();
        }

        @Override
        public String cacheResult() {
            return cacheResult;
        }

        @Override
        public MutableFields fields() {
            head();
            return fields;
        }
    }
}
