package io.millrace.proxy.extension;

import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.BodyTransformHook.Output;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The transformations of the content of one response, in order: the output of one is the input of the next. One piece
 * is transformed at a time. A transformation may give its result later.
 *
 * <p>Confined to one event loop.
 */
public final class BodyTransforms {
    /** Thrown when a transformation has failed. The failure was already counted. */
    public static final class FailedException extends Exception {
        private static final long serialVersionUID = 1L;

        FailedException(String extension, Throwable cause) {
            super("extension " + extension + " failed", cause);
        }
    }

    /** Receives the transformed content, during a call of {@link BodyTransforms} or later. */
    public interface Receiver {
        /**
         * Receives the output for one piece, maybe empty. Takes ownership.
         *
         * @param isEnd true for the last piece
         */
        void onTransformed(ByteBuf content, boolean isEnd);

        /** A transformation has failed. No further method is called. */
        void onTransformFailure(FailedException fault);
    }

    /** The parts of the work of one step on a piece: transform it, then, if it is the last one, end the content. */
    private static final int PARTS = 2;

    private final List<TransformStep> steps = new ArrayList<>();
    private final Consumer<LoadedExtension> onGivenUp;
    private @Nullable EventExecutor loop;
    private @Nullable Receiver receiver;
    private ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;
    private boolean isBusy;
    private boolean isClosed;

    /** Index of the next part of the work; each step has {@link #PARTS} parts. */
    private int position;
    /** True while the last piece is transformed. */
    private boolean isEnding;
    /** The input of the current step; null once the step has it. */
    private @Nullable ByteBuf input;
    /** The output of the current step; null before its first call. */
    private @Nullable ByteBuf output;
    /** The result that is waited for; null for none. */
    private @Nullable HookReply<Output> reply;

    /** @param onGivenUp called if content is passed on without the transformation of an extension */
    BodyTransforms(Consumer<LoadedExtension> onGivenUp) {
        this.onGivenUp = onGivenUp;
    }

    void add(LoadedExtension extension, BodyTransformHook.Transform transform) {
        steps.add(new TransformStep(extension, transform, onGivenUp));
    }

    boolean isEmpty() {
        return steps.isEmpty();
    }

    /** Sets the receiver of the content. Call once, before the first piece. */
    public void begin(EventExecutor eventLoop, Receiver to) {
        loop = eventLoop;
        receiver = to;
    }

    /** Returns true while a piece is transformed. No other may begin meanwhile. */
    public boolean isBusy() {
        return isBusy;
    }

    /** Transforms a piece of content. Takes ownership. */
    public void chunk(ByteBuf content) {
        allocator = content.alloc();
        transform(content, false);
    }

    /** Ends the content. */
    public void end() {
        transform(allocator.buffer(0), true);
    }

    private void transform(ByteBuf piece, boolean isLast) {
        if (isBusy || isClosed) {
            piece.release();
            throw new IllegalStateException(isBusy ? "another piece is being transformed" : "closed");
        }
        isBusy = true;
        isEnding = isLast;
        position = 0;
        input = piece;
        advance();
    }

    private void resume() {
        if (!isClosed) {
            advance();
        }
    }

    /** Continues until a result must be waited for, or the piece has passed all steps. */
    private void advance() {
        Receiver to = receiver;
        if (to == null) {
            throw new IllegalStateException("begin() was not called");
        }
        try {
            while (position < PARTS * steps.size()) {
                if (!part(steps.get(position / PARTS))) {
                    return;
                }
                position++;
            }
        } catch (FailedException e) {
            isBusy = false;
            close();
            to.onTransformFailure(e);
            return;
        }
        ByteBuf transformed = taken(input);
        input = null;
        isBusy = false;
        to.onTransformed(transformed, isEnding);
    }

    /** Runs the current part of a step, or takes its result. Returns false if the result must be waited for. */
    private boolean part(TransformStep step) throws FailedException {
        HookReply<Output> result = reply;
        if (result == null) {
            result = position % PARTS == 0 ? transformInput(step) : end(step);
            reply = result;
        }
        if (result != null) {
            EventExecutor executor = loop;
            if (result.result() == null && executor != null) {
                result.await(executor, this::resume);
                return false;
            }
            reply = null;
            step.finish(result, taken(output));
        }
        if (position % PARTS == PARTS - 1) {
            input = output;
            output = null;
        }
        return true;
    }

    private @Nullable HookReply<Output> transformInput(TransformStep step) throws FailedException {
        ByteBuf piece = taken(input);
        ByteBuf out = allocator.buffer(piece.readableBytes());
        output = out;
        try {
            return piece.isReadable() ? step.chunk(piece, out) : null;
        } finally {
            input = null;
            piece.release();
        }
    }

    private @Nullable HookReply<Output> end(TransformStep step) throws FailedException {
        return isEnding ? step.end(taken(output)) : null;
    }

    private static ByteBuf taken(@Nullable ByteBuf buffer) {
        if (buffer == null) {
            throw new IllegalStateException("no buffer");
        }
        return buffer;
    }

    /** Closes all transformations, also while a piece is transformed. Idempotent. */
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        HookReply<Output> waiting = reply;
        if (waiting != null) {
            waiting.forget();
            reply = null;
        }
        ReferenceCountUtil.release(input);
        ReferenceCountUtil.release(output);
        input = null;
        output = null;
        steps.forEach(TransformStep::close);
    }
}
