package io.millrace.worker.traces;

import java.net.http.HttpRequest.BodyPublisher;
import java.nio.ByteBuffer;
import java.util.concurrent.Flow.Subscriber;
import java.util.concurrent.Flow.Subscription;

/**
 * The content of a request in one part, in direct memory. The JDK's publisher makes parts of 16 KiB, each of which
 * passes through the client's queues. The socket would copy an array again after each partial write. Immutable; the
 * content is borrowed until the request has ended.
 */
record DirectBody(ByteBuffer content) implements BodyPublisher {
    @Override
    public long contentLength() {
        return content.remaining();
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        subscriber.onSubscribe(new Subscription() {
            private boolean isDone;

            @Override
            public void request(long parts) {
                if (!isDone) {
                    isDone = true;
                    subscriber.onNext(content.duplicate());
                    subscriber.onComplete();
                }
            }

            @Override
            public void cancel() {
                isDone = true;
            }
        });
    }
}
