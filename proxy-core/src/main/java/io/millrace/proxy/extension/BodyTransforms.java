package io.millrace.proxy.extension;

import io.millrace.proxy.spi.BodyTransformHook;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The transformations of the content of one response, in order: the output of one is the input of the next.
 *
 * <p>Confined to one event loop.
 */
public final class BodyTransforms {
    /** Number of bytes that one call may write in addition to twice the length of its input. */
    private static final int EXTRA_OUTPUT_BYTES_MAX = 1 << 20;

    /** Thrown when a transformation has failed. The failure was already counted. */
    public static final class FailedException extends Exception {
        private static final long serialVersionUID = 1L;

        FailedException(String extension, Throwable cause) {
            super("extension " + extension + " failed", cause);
        }
    }

    private record Step(LoadedExtension extension, BodyTransformHook.Transform transform) {}

    /** A call of a transformation. */
    private interface Call {
        void run(BodyTransformHook.Transform transform, BodyTransformHook.Output out) throws Exception;
    }

    private final List<Step> steps = new ArrayList<>();
    private ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;
    private boolean closed;

    BodyTransforms() {}

    void add(LoadedExtension extension, BodyTransformHook.Transform transform) {
        steps.add(new Step(extension, transform));
    }

    boolean isEmpty() {
        return steps.isEmpty();
    }

    /**
     * Transforms a piece of content.
     *
     * @param content released by this method
     * @return the transformed content, maybe empty; the caller releases it
     */
    public ByteBuf chunk(ByteBuf content) throws FailedException {
        allocator = content.alloc();
        ByteBuf piece = content;
        for (Step step : steps) {
            piece = transformed(step, piece);
        }
        return piece;
    }

    /**
     * Ends the content.
     *
     * @return the remaining transformed content, maybe empty; the caller releases it
     */
    public ByteBuf end() throws FailedException {
        ByteBuf rest = allocator.buffer(0);
        for (Step step : steps) {
            rest = transformed(step, rest);
            ByteBuf out = rest;
            try {
                call(step, 0, out, BodyTransformHook.Transform::end);
            } catch (FailedException e) {
                out.release();
                throw e;
            }
        }
        return rest;
    }

    /** Returns the output for a piece, and releases the piece. */
    private ByteBuf transformed(Step step, ByteBuf piece) throws FailedException {
        if (!piece.isReadable()) {
            return piece;
        }
        ByteBuf out = allocator.buffer(piece.readableBytes());
        try {
            for (ByteBuffer in : piece.nioBuffers()) {
                call(step, in.remaining(), out, (transform, to) -> transform.chunk(in.asReadOnlyBuffer(), to));
            }
        } catch (FailedException e) {
            out.release();
            throw e;
        } finally {
            piece.release();
        }
        return out;
    }

    private static void call(Step step, int inputBytes, ByteBuf out, Call call) throws FailedException {
        long limit = 2L * inputBytes + EXTRA_OUTPUT_BYTES_MAX + out.readableBytes();
        LoadedExtension extension = step.extension();
        long began = extension.now();
        try {
            extension.begin(Hook.BODY_TRANSFORM, began);
            call.run(step.transform(), bytes -> {
                if (out.readableBytes() + (long) bytes.remaining() > limit) {
                    throw new HookLimitException("bytes that one call of a transformation writes: limit=" + limit);
                }
                out.writeBytes(bytes);
            });
            extension.succeeded(Hook.BODY_TRANSFORM);
        } catch (Throwable e) {
            extension.failed(Hook.BODY_TRANSFORM, e);
            throw new FailedException(extension.name(), e);
        } finally {
            extension.end(Hook.BODY_TRANSFORM, began);
        }
    }

    /** Closes all transformations. Idempotent. */
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (Step step : steps) {
            LoadedExtension extension = step.extension();
            long began = extension.now();
            try {
                extension.begin(Hook.BODY_TRANSFORM, began);
                step.transform().close();
            } catch (Throwable e) {
                extension.failed(Hook.BODY_TRANSFORM, e);
            } finally {
                extension.end(Hook.BODY_TRANSFORM, began);
            }
        }
    }
}
