package io.millrace.wasm;

import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.Continuation;
import io.millrace.wasm.body.BodyBuffer;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The content of one response, which a module transforms. Any instance of the module may process the first piece. The
 * same instance then processes all later pieces, because it has the context of the response.
 *
 * <p>Confined to the event loop of the response. The methods of {@link Piece} run on the thread of the instance.
 */
final class WasmBody implements BodyTransformHook.AsyncTransform {
    private static final byte[] EMPTY = {};

    private final WasmFilter filter;
    private final HttpContext message;
    private final BodyBuffer body;
    private boolean hasContent;
    /** The queue of the instance that has the context; null before its first callback. */
    private volatile WorkQueue.@Nullable Inbox inbox;

    /** @param body the content in the message */
    WasmBody(WasmFilter filter, HttpContext message, BodyBuffer body) {
        this.filter = filter;
        this.message = message;
        this.body = body;
    }

    @Override
    public void chunk(ByteBuffer in, Continuation<BodyTransformHook.Output> result) {
        hasContent = true;
        byte[] bytes = new byte[in.remaining()];
        in.get(bytes);
        submit(new Piece(bytes, false, result));
    }

    @Override
    public void end(Continuation<BodyTransformHook.Output> result) {
        if (hasContent) {
            submit(new Piece(EMPTY, true, result));
        } else {
            // As in Envoy, a response without content has no callback for it.
            result.proceed();
        }
    }

    private void submit(Piece piece) {
        WorkQueue.Inbox known = inbox;
        if (known == null) {
            filter.submit(piece);
        } else if (!known.add(new WorkQueue.CallEntry(piece))) {
            piece.failed(new WasmFailure("the extension is closed"));
        }
    }

    /**
     * Ends the context of the response. If the first piece begins at the same time, its thread detects the end by the
     * entry in its queue or by the closed body.
     */
    @Override
    public void close() {
        body.close();
        WorkQueue.Inbox known = inbox;
        if (known != null) {
            boolean ignored = known.add(new WorkQueue.End(message));
        }
    }

    /** The call for one piece. */
    private final class Piece implements RequestWorkers.Call {
        private final byte[] bytes;
        private final boolean isLast;
        private final Continuation<BodyTransformHook.Output> result;

        Piece(byte[] bytes, boolean isLast, Continuation<BodyTransformHook.Output> result) {
            this.bytes = bytes;
            this.isLast = isLast;
            this.result = result;
        }

        @Override
        public HttpContext message() {
            return message;
        }

        @Override
        public boolean begin(WorkQueue.Inbox instance) {
            inbox = instance;
            boolean isWithinLimits = body.append(bytes, isLast);
            if (!isWithinLimits) {
                giveUp("the module holds more content of all responses together than their common limit");
            }
            return isWithinLimits;
        }

        @Override
        public void done() {
            if (!isLast && body.isOverLimit()) {
                giveUp("the module holds more content than the limit (key body_limit)");
                return;
            }
            byte[] released = body.takeReleased();
            if (released.length == 0) {
                result.proceed();
            } else {
                result.proceed(out -> out.write(ByteBuffer.wrap(released)));
            }
        }

        /**
         * Applies {@code on_error}: fails the response, or lets it continue with its original content. If the module
         * has already changed content, the rest of the original content would not match it, so the response fails in
         * any case.
         */
        private void giveUp(String reason) {
            if (body.isChanged()) {
                result.fail(new WasmFailure(reason + ", after it has changed content"));
                return;
            }
            body.release();
            byte[] held = body.takeReleased();
            result.proceed(out -> out.giveUp(ByteBuffer.wrap(held), reason));
        }

        @Override
        public boolean isAbandoned() {
            return result.isAbandoned();
        }

        @Override
        public void failed(Throwable cause) {
            result.fail(cause);
        }

        /**
         * Applies {@code on_error} to a first piece, because the module has seen nothing of the content. A later piece
         * fails the response.
         */
        @Override
        public void refused(String reason) {
            if (inbox == null) {
                result.proceed(out -> out.giveUp(ByteBuffer.wrap(bytes), reason));
            } else {
                failed(new WasmFailure(reason));
            }
        }
    }
}
