package io.millrace.proxy.extension;

import io.millrace.proxy.caching.tags.TagList;
import io.millrace.proxy.caching.tags.Tags;
import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.spi.Attribute;
import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.MutableFields;
import io.millrace.proxy.spi.OriginRequestHook;
import io.millrace.proxy.spi.OriginRequestView;
import io.millrace.proxy.spi.OriginResponseHook;
import io.millrace.proxy.spi.OriginResponseView;
import io.millrace.proxy.spi.RequestView;
import io.netty.util.concurrent.EventExecutor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The hooks of extensions for one fetch: the request to the origin and its response.
 *
 * <p>Confined to the event loop of the fetch.
 */
public final class FetchHooks {
    private final RequestHooks request;
    private final HookChain chain;
    private final List<FieldEdits> requestEdits = new ArrayList<>();
    private boolean isRequestDone;
    private int extensionIndex;
    private @Nullable HookReply<OriginRequestView> reply;

    private long ttlSeconds = -1;
    private byte[] tags = {};
    private boolean unstorable;
    private boolean failed;
    private boolean isTransforming;
    private @Nullable BodyTransforms transforms;

    private FetchHooks(RequestHooks request) {
        this.request = request;
        this.chain = request.chain();
    }

    /** Returns the hooks of a fetch; null if its rule has none. */
    public static @Nullable FetchHooks of(@Nullable RequestHooks request) {
        return request == null ? null : new FetchHooks(request);
    }

    // The request to the origin

    /** Returns true if the request to the origin waits for {@link #prepare}. */
    public boolean mustPrepare() {
        return !isRequestDone && chain.has(Hook.ORIGIN_REQUEST);
    }

    /**
     * Returns true if the response to a POST must not be stored for later GETs, because the hooks may decide
     * differently about a GET.
     */
    public boolean distinguishesPost() {
        return chain.has(Hook.ORIGIN_REQUEST) || chain.has(Hook.CACHE_KEY) || chain.has(Hook.LOOKUP_DONE);
    }

    /** Returns true if {@link #originResponse} may change a response. */
    public boolean changesResponses() {
        return chain.has(Hook.ORIGIN_RESPONSE) || isTransforming;
    }

    /** Returns true if extensions may transform the content of responses. */
    public boolean transformsBodies() {
        return chain.has(Hook.BODY_TRANSFORM);
    }

    /** Makes {@link #originResponse} begin the transformations. {@link #takeTransforms} then returns them. */
    public void expectTransforms() {
        isTransforming = true;
    }

    /** Returns the transformations of the last response; null if the content is not changed. The caller closes them. */
    public @Nullable BodyTransforms takeTransforms() {
        BodyTransforms taken = transforms;
        transforms = null;
        return taken;
    }

    /**
     * Calls the hooks for the request to the origin.
     *
     * @param head the client's request
     * @param target path and query for the origin
     * @param fields returns the fields for the origin
     * @param then runs on the loop, during this call or later, with the name of the extension whose failure refuses the
     *     request; null if the request can be sent
     */
    public void prepare(
            RequestHead head,
            Supplier<String> target,
            Supplier<FieldSection> fields,
            EventExecutor loop,
            Consumer<@Nullable String> then) {
        LoadedExtension[] extensions = chain.of(Hook.ORIGIN_REQUEST);
        for (; extensionIndex < extensions.length; extensionIndex++) {
            LoadedExtension extension = extensions[extensionIndex];
            HookReply<OriginRequestView> current = reply;
            if (current == null) {
                if (!extension.admits(Hook.ORIGIN_REQUEST)) {
                    if (recordFailure(extension)) {
                        then.accept(extension.name());
                        return;
                    }
                    continue;
                }
                current = new HookReply<>(extension, Hook.ORIGIN_REQUEST);
                HookReply<OriginRequestView> called = current;
                Throwable fault =
                        change(extension, head, target, fields, view -> ((OriginRequestHook) extension.extension())
                                .originRequest(view, called));
                if (fault != null) {
                    current.setThrown(fault);
                }
            }
            Object result = current.result();
            if (result == null) {
                reply = current;
                current.await(loop, () -> prepare(head, target, fields, loop, then));
                return;
            }
            reply = null;
            if (applyResult(extension, result, head, target, fields)) {
                then.accept(extension.name());
                return;
            }
        }
        isRequestDone = true;
        then.accept(null);
    }

    /** Applies the result of a hook. Returns true if its failure refuses the request. */
    private boolean applyResult(
            LoadedExtension extension,
            Object result,
            RequestHead head,
            Supplier<String> target,
            Supplier<FieldSection> fields) {
        Object outcome = result;
        if (outcome instanceof Consumer<?> change && outcome != HookReply.UNCHANGED) {
            @SuppressWarnings("unchecked") // a reply takes changes of its view only
            Consumer<OriginRequestView> typed = (Consumer<OriginRequestView>) change;
            Throwable fault = change(extension, head, target, fields, typed);
            outcome = fault == null ? outcome : fault;
        }
        if (outcome instanceof Throwable fault) {
            RequestHooks.failed(extension, Hook.ORIGIN_REQUEST, fault);
            return recordFailure(extension);
        }
        extension.succeeded(Hook.ORIGIN_REQUEST);
        return false;
    }

    /** Records a failure of a hook. Returns true if it refuses the request. */
    private boolean recordFailure(LoadedExtension extension) {
        request.noteFailed(extension);
        return extension.onError(Hook.ORIGIN_REQUEST) == OnError.CLOSED;
    }

    /** Calls code that changes the request, and records its changes. Returns the exception that it threw, or null. */
    private @Nullable Throwable change(
            LoadedExtension extension,
            RequestHead head,
            Supplier<String> target,
            Supplier<FieldSection> fields,
            Consumer<OriginRequestView> code) {
        EditedFields edited = new EditedFields(null, EditedFields.FIXED_IN_ORIGIN_REQUESTS) {
            @Override
            FieldSection read() {
                return originFields(fields.get());
            }
        };
        ClientRequest client = request.view();
        long began = extension.now();
        try {
            extension.begin(Hook.ORIGIN_REQUEST, began);
            code.accept(new Prepared(client.begin(head), target, edited));
        } catch (Throwable e) {
            return e;
        } finally {
            client.end();
            extension.end(Hook.ORIGIN_REQUEST, began);
        }
        FieldEdits edits = edited.edits();
        if (edits != null) {
            requestEdits.add(edits);
        }
        return null;
    }

    /** The view of a request to the origin. */
    private record Prepared(RequestView request, Supplier<String> targetSource, MutableFields fields)
            implements OriginRequestView {
        @Override
        public String target() {
            return targetSource.get();
        }
    }

    /** Returns the fields for the origin after the changes of the hooks. */
    public FieldSection originFields(FieldSection fields) {
        FieldSection changed = fields;
        for (FieldEdits edits : requestEdits) {
            changed = edits.applyTo(changed);
        }
        return changed;
    }

    /** Stops waiting, because the fetch has ended. */
    public void forget() {
        if (reply != null) {
            reply.forget();
            reply = null;
        }
        if (transforms != null) {
            transforms.close();
            transforms = null;
        }
    }

    // The response of the origin

    /**
     * Lets the extensions change a response head, and begins the transformations of its content.
     *
     * @param keyUrl URL of the cache key
     * @param status the status of the whole representation: for a 304 the status of the stored response
     * @param seen the fields of the whole representation: for a 304 the updated fields of the stored response
     * @param hasContent whether the response has content that can be transformed
     */
    public ResponseHead originResponse(
            ResponseHead head, TargetUri keyUrl, int status, FieldSection seen, boolean hasContent) {
        ttlSeconds = -1;
        tags = new byte[0];
        unstorable = false;
        failed = false;
        Changed changed = new Changed(head.fields(), seen);
        ClientRequest.AttributeValues attributes = new ClientRequest.AttributeValues();
        for (LoadedExtension extension : chain.of(Hook.ORIGIN_RESPONSE)) {
            OriginResponseHook hook = (OriginResponseHook) extension.extension();
            call(
                    extension,
                    Hook.ORIGIN_RESPONSE,
                    new Received(keyUrl, status, changed.seen, attributes),
                    changed,
                    hook::originResponse);
        }
        if (isTransforming && hasContent) {
            beginTransforms(keyUrl, status, changed, attributes);
        }
        return changed.fields == head.fields() ? head : head.withFields(changed.fields);
    }

    private void beginTransforms(
            TargetUri keyUrl, int status, Changed changed, ClientRequest.AttributeValues attributes) {
        BodyTransforms newTransforms = new BodyTransforms(this::transformGivenUp);
        transforms = newTransforms;
        for (LoadedExtension extension : chain.of(Hook.BODY_TRANSFORM)) {
            BodyTransformHook hook = (BodyTransformHook) extension.extension();
            Received received = new Received(keyUrl, status, changed.seen, attributes);
            call(extension, Hook.BODY_TRANSFORM, received, changed, response -> {
                BodyTransformHook.Transform transform = hook.bodyTransform(response);
                if (transform != null) {
                    newTransforms.add(extension, transform);
                }
            });
        }
        if (newTransforms.isEmpty()) {
            transforms = null;
        }
    }

    /** The fields of a response after the hooks called so far, and the fields that the next hook sees. */
    private static final class Changed {
        FieldSection fields;
        FieldSection seen;

        Changed(FieldSection fields, FieldSection seen) {
            this.fields = fields;
            this.seen = seen;
        }
    }

    /** Prevents the storing of a response whose content was passed on without a transformation. */
    private void transformGivenUp(LoadedExtension extension) {
        failed = true;
        request.noteFailed(extension);
    }

    private void call(
            LoadedExtension extension,
            Hook hook,
            Received response,
            Changed changed,
            Consumer<OriginResponseView> code) {
        if (!extension.admits(hook)) {
            responseFailed(extension, hook);
            return;
        }
        long began = extension.now();
        try {
            extension.begin(hook, began);
            code.accept(response);
            FieldEdits edits = response.fields.edits();
            if (edits != null) {
                changed.fields = edits.applyTo(changed.fields);
                changed.seen = edits.applyTo(changed.seen);
            }
            collectResults(response);
            if (hook != Hook.BODY_TRANSFORM) {
                // A transformation succeeds when it has ended the content.
                extension.succeeded(hook);
            }
        } catch (Throwable e) {
            extension.failed(hook, e);
            responseFailed(extension, hook);
        } finally {
            response.end();
            extension.end(hook, began);
        }
    }

    private void responseFailed(LoadedExtension extension, Hook hook) {
        failed = true;
        request.noteFailed(extension);
        if (extension.onError(hook) == OnError.CLOSED) {
            forget();
            throw new ClosedResponseException(extension.name());
        }
    }

    /** Thrown when the failure of a hook refuses the response of the origin. */
    public static final class ClosedResponseException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ClosedResponseException(String name) {
            super("extension " + name + " failed");
        }
    }

    private void collectResults(Received response) {
        if (response.ttlSeconds >= 0) {
            ttlSeconds = response.ttlSeconds;
        }
        byte[] more = response.tags.tags().packed();
        if (more.length > 0) {
            tags = tags.length == 0
                    ? more
                    : Tags.ofPacked(null, tags).union(Tags.ofPacked(null, more)).packed();
        }
        unstorable |= response.unstorable;
    }

    /** The lifetime of the response from its receipt, in seconds; -1 if extensions have set none. */
    public long ttlSeconds() {
        return ttlSeconds;
    }

    /** Further tags, as {@link Tags#packed} returns them; empty for none. Borrowed, and must not be changed. */
    public byte[] tags() {
        return tags;
    }

    /**
     * Returns true if the response must not be stored: an extension forbids it, or its hook failed. The result can
     * change until the end of the content, since a transformation may fail at any piece.
     */
    public boolean isUnstorable() {
        return unstorable || failed;
    }

    /**
     * Returns true if a stored response that the origin has just confirmed stays stored. The stored response is removed
     * only if a hook forbids storing, not if a hook failed.
     */
    public boolean keepsStored() {
        return !unstorable;
    }

    /** The view of a response of the origin. Confined to one event loop. */
    private final class Received implements OriginResponseView {
        private static final int TAG_LENGTH_MAX = 128;

        private final TargetUri keyUrl;
        private final int status;
        private final EditedFields fields;
        private final TagList tags = new TagList();
        private final ClientRequest.AttributeValues attributes;
        private long ttlSeconds = -1;
        private boolean unstorable;
        private boolean ended;

        Received(TargetUri keyUrl, int status, FieldSection seen, ClientRequest.AttributeValues attributes) {
            this.keyUrl = keyUrl;
            this.status = status;
            this.attributes = attributes;
            this.fields = new EditedFields(seen, EditedFields.FIXED_IN_STORED);
        }

        void end() {
            ended = true;
        }

        private void checkValid() {
            if (ended) {
                throw new IllegalStateException("the response is valid only during the call of the hook");
            }
        }

        @Override
        public String url() {
            checkValid();
            return keyUrl.asString();
        }

        @Override
        public String rule() {
            return request.view().rule();
        }

        @Override
        public int status() {
            return status;
        }

        @Override
        public MutableFields fields() {
            checkValid();
            return fields;
        }

        @Override
        public void ttl(@Nullable Duration value) {
            checkValid();
            if (value != null && value.isNegative()) {
                throw new IllegalArgumentException("ttl is negative: " + value);
            }
            ttlSeconds = value == null ? -1 : value.toSeconds();
        }

        @Override
        public void tag(String tag) {
            checkValid();
            byte[] bytes = tag.getBytes(StandardCharsets.UTF_8);
            if (bytes.length == 0
                    || bytes.length > TAG_LENGTH_MAX
                    || tag.chars().anyMatch(c -> c <= ' ' || c == 127)) {
                throw new IllegalArgumentException("a tag must have 1 to " + TAG_LENGTH_MAX
                        + " bytes without white space and control characters: \"" + tag + "\"");
            }
            tags.addOne(bytes, 0, bytes.length);
            if (tags.problem() != null) {
                throw new HookLimitException(tags.problem());
            }
        }

        @Override
        public void doNotStore() {
            checkValid();
            unstorable = true;
        }

        @Override
        public <T> @Nullable T get(Attribute<T> attribute) {
            checkValid();
            return attributes.get(attribute);
        }

        @Override
        public <T> void set(Attribute<T> attribute, @Nullable T value) {
            checkValid();
            attributes.set(attribute, value);
        }
    }
}
