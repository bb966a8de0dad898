package io.millrace.wasm.callout;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Collects the content of a response, and fails at a limit. The HTTP client calls it on one thread at a time. */
final class LimitedBody implements HttpResponse.BodySubscriber<byte[]> {
    private final int bytesMax;
    private final OpenLimits.Slot slot;
    private final CompletableFuture<byte[]> result = new CompletableFuture<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private Flow.@Nullable Subscription subscription;

    /** @param slot counts the bytes, until the module receives them */
    LimitedBody(int bytesMax, OpenLimits.Slot slot) {
        this.bytesMax = bytesMax;
        this.slot = slot;
    }

    @Override
    public CompletionStage<byte[]> getBody() {
        return result;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> pieces) {
        for (ByteBuffer piece : pieces) {
            if (result.isDone()) {
                return;
            }
            if (piece.remaining() > bytesMax - bytes.size()) {
                fail("the response has more bytes than the limit of " + bytesMax);
                return;
            }
            if (!slot.reserve(piece.remaining())) {
                fail(OpenLimits.BYTES_REASON);
                return;
            }
            byte[] copy = new byte[piece.remaining()];
            piece.get(copy);
            bytes.writeBytes(copy);
        }
    }

    private void fail(String reason) {
        if (subscription != null) {
            subscription.cancel();
        }
        bytes.reset();
        result.completeExceptionally(new IOException(reason));
    }

    @Override
    public void onError(Throwable fault) {
        result.completeExceptionally(fault);
    }

    @Override
    public void onComplete() {
        result.complete(bytes.toByteArray());
    }
}
