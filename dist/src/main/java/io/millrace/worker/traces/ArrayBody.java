package io.millrace.worker.traces;

import java.net.http.HttpRequest.BodyPublisher;
import java.nio.ByteBuffer;
import java.util.concurrent.Flow.Subscriber;
import java.util.concurrent.Flow.Subscription;

/**
 * The content of a request in one part, without a copy. The JDK's publisher copies the array in parts of 16 KiB, each
 * of which passes through the client's queues. Immutable; the array is borrowed until the request has ended.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ArrayBody(byte[] bytes, int from, int length) implements BodyPublisher {
    @Override
    public long contentLength() {
        return length;
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        subscriber.onSubscribe(new Subscription() {
            private boolean isDone;

            @Override
            public void request(long parts) {
                if (!isDone) {
                    isDone = true;
                    subscriber.onNext(ByteBuffer.wrap(bytes, from, length).slice());
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
