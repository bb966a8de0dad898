package io.millrace.worker.traces;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/** Receives the content of an answer, up to 64 KiB; ignores the rest. Called by one thread at a time. */
final class LimitedBody implements BodySubscriber<byte[]> {
    private static final int BYTES_MAX = 64 << 10;

    private final CompletableFuture<byte[]> body = new CompletableFuture<>();
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();

    LimitedBody() {}

    @Override
    public CompletionStage<byte[]> getBody() {
        return body;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            byte[] part = new byte[Math.min(buffer.remaining(), BYTES_MAX - received.size())];
            buffer.get(part);
            received.write(part, 0, part.length);
        }
    }

    @Override
    public void onError(Throwable failure) {
        body.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        body.complete(received.toByteArray());
    }
}
