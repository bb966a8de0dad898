package io.millrace.proxy.extension;

import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.spi.BodyTransformHook.AsyncTransform;
import io.millrace.proxy.spi.BodyTransformHook.Output;
import io.millrace.proxy.spi.BodyTransformHook.Transform;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One transformation of the content of a response: its calls, their limits and their failures.
 *
 * <p>Confined to one event loop.
 */
final class TransformStep {
    /** Number of bytes that one call may write in addition to twice the length of its input. */
    private static final int EXTRA_OUTPUT_BYTES_MAX = 1 << 20;

    /** A call of the extension. */
    private interface Call {
        void run() throws Exception;
    }

    private final LoadedExtension extension;
    private final Transform transform;
    private final Consumer<LoadedExtension> onGivenUp;
    /** Bytes of input since the last output. */
    private long inputBytes;
    /** True if the transformation has given up. Further content is not changed. */
    private boolean isGivenUp;
    /** True after the call that ends the content. */
    private boolean isEnding;

    /** @param onGivenUp called if the content is passed on without the transformation */
    TransformStep(LoadedExtension extension, Transform transform, Consumer<LoadedExtension> onGivenUp) {
        this.extension = extension;
        this.transform = transform;
        this.onGivenUp = onGivenUp;
    }

    /**
     * Transforms a piece.
     *
     * @param piece not empty; borrowed
     * @param out receives the output
     * @return the result that may arrive later, to be passed to {@link #finish} then; null if the output is complete
     */
    @Nullable
    HookReply<Output> chunk(ByteBuf piece, ByteBuf out) throws BodyTransforms.FailedException {
        if (transform instanceof AsyncTransform later && !isGivenUp) {
            inputBytes += piece.readableBytes();
            ByteBuffer in = piece.nioBuffer().asReadOnlyBuffer();
            return begin(result -> later.chunk(in, result));
        }
        for (ByteBuffer in : piece.nioBuffers()) {
            if (isGivenUp) {
                out.writeBytes(in);
            } else {
                inputBytes += in.remaining();
                Written written = new Written(out);
                call(written, () -> transform.chunk(in.asReadOnlyBuffer(), written));
            }
        }
        return null;
    }

    /** Ends the content. The parameter and the result are as for {@link #chunk}. */
    @Nullable
    HookReply<Output> end(ByteBuf out) throws BodyTransforms.FailedException {
        if (isGivenUp) {
            return null;
        }
        isEnding = true;
        if (transform instanceof AsyncTransform later) {
            return begin(later::end);
        }
        Written written = new Written(out);
        call(written, () -> transform.end(written));
        return null;
    }

    /** A call whose result may come later. */
    private interface Begin {
        void run(HookReply<Output> result) throws Exception;
    }

    private HookReply<Output> begin(Begin code) {
        HookReply<Output> reply = new HookReply<>(extension, Hook.BODY_TRANSFORM);
        long began = extension.now();
        try {
            extension.begin(Hook.BODY_TRANSFORM, began);
            code.run(reply);
        } catch (Throwable e) {
            reply.setThrown(e);
        } finally {
            extension.end(Hook.BODY_TRANSFORM, began);
        }
        return reply;
    }

    /** Writes the output of a call whose result is known. */
    void finish(HookReply<Output> reply, ByteBuf out) throws BodyTransforms.FailedException {
        Object result = reply.result();
        if (result instanceof Throwable fault) {
            RequestHooks.failed(extension, Hook.BODY_TRANSFORM, fault);
            throw new BodyTransforms.FailedException(extension.name(), fault);
        }
        if (result == HookReply.UNCHANGED) {
            succeeded();
            return;
        }
        @SuppressWarnings("unchecked") // safe: a HookReply<Output> accepts only callbacks for an Output
        Consumer<Output> change = (Consumer<Output>) Objects.requireNonNull(result, "no result yet");
        Written written = new Written(out);
        call(written, () -> change.accept(written));
    }

    private void call(Written written, Call code) throws BodyTransforms.FailedException {
        long began = extension.now();
        try {
            extension.begin(Hook.BODY_TRANSFORM, began);
            code.run();
        } catch (Throwable e) {
            extension.failed(Hook.BODY_TRANSFORM, e);
            throw new BodyTransforms.FailedException(extension.name(), e);
        } finally {
            written.isClosed = true;
            extension.end(Hook.BODY_TRANSFORM, began);
        }
        String reason = written.givenUpFor;
        if (reason == null) {
            succeeded();
            return;
        }
        // The content causes this failure, not the extension, so it must not open the circuit breaker for other
        // responses.
        HookLimitException fault = new HookLimitException(reason);
        extension.recordFailure(Hook.BODY_TRANSFORM, FailureReason.LIMIT, fault);
        if (extension.onError(Hook.BODY_TRANSFORM) == OnError.CLOSED) {
            throw new BodyTransforms.FailedException(extension.name(), fault);
        }
        isGivenUp = true;
        onGivenUp.accept(extension);
    }

    /**
     * Counts a success for the circuit breaker at the end of the content only. Otherwise a success of the first pieces
     * of each response would hide that all of them fail later.
     */
    private void succeeded() {
        if (isEnding) {
            extension.succeeded(Hook.BODY_TRANSFORM);
        }
    }

    /** Ends the transformation. */
    void close() {
        long began = extension.now();
        try {
            extension.begin(Hook.BODY_TRANSFORM, began);
            transform.close();
        } catch (Throwable e) {
            extension.failed(Hook.BODY_TRANSFORM, e);
        } finally {
            extension.end(Hook.BODY_TRANSFORM, began);
        }
    }

    /** The output of one call. */
    private final class Written implements Output {
        private final ByteBuf out;
        private final long limit;
        private @Nullable String givenUpFor;
        private boolean isClosed;

        Written(ByteBuf out) {
            this.out = out;
            limit = 2 * inputBytes + EXTRA_OUTPUT_BYTES_MAX + out.readableBytes();
        }

        @Override
        public void write(ByteBuffer bytes) {
            checkOpen();
            if (out.readableBytes() + (long) bytes.remaining() > limit) {
                throw new HookLimitException("bytes that one call of a transformation writes: limit=" + limit);
            }
            if (bytes.hasRemaining()) {
                inputBytes = 0;
                out.writeBytes(bytes);
            }
        }

        @Override
        public void giveUp(ByteBuffer held, String reason) {
            checkOpen();
            givenUpFor = reason;
            out.writeBytes(held);
        }

        private void checkOpen() {
            if (isClosed || givenUpFor != null) {
                throw new IllegalStateException("the output is valid only during the call, until giveUp");
            }
        }
    }
}
