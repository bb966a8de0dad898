package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A handler that records its events and checks their order. */
class RecordedResponse implements OriginResponseHandler {

    static final long WAIT_SECONDS = 20;

    final List<Integer> interim = new CopyOnWriteArrayList<>();
    final List<String> disorder = new CopyOnWriteArrayList<>();
    final CountDownLatch headArrived = new CountDownLatch(1);
    final CountDownLatch ended = new CountDownLatch(1);
    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    volatile ResponseHead head;
    volatile ResponseFraming framing;
    volatile FieldSection trailers;
    volatile OriginFailure failure;
    volatile boolean complete;
    volatile boolean continued;

    @Override
    public void onContinue() {
        continued = true;
        check(head == null, "100 after the head");
    }

    @Override
    public void onInterim(ResponseHead received) {
        check(head == null, "interim response after the head");
        interim.add(received.status());
    }

    @Override
    public void onHead(ResponseHead received, ResponseFraming framed) {
        check(head == null, "second head");
        head = received;
        framing = framed;
        headArrived.countDown();
    }

    @Override
    public void onContent(ByteBuf piece) {
        check(head != null && ended.getCount() > 0, "content out of order");
        check(piece.isReadable(), "empty content");
        synchronizedAppend(piece);
        piece.release();
    }

    private void synchronizedAppend(ByteBuf piece) {
        byte[] bytes = new byte[piece.readableBytes()];
        piece.readBytes(bytes);
        content.writeBytes(bytes);
    }

    @Override
    public void onComplete(FieldSection received) {
        check(head != null && ended.getCount() > 0, "end out of order");
        trailers = received;
        complete = true;
        ended.countDown();
    }

    @Override
    public void onFailure(OriginFailure failed) {
        check(ended.getCount() > 0, "second end");
        check(failed.beforeHead() == (head == null), "beforeHead=" + failed.beforeHead());
        failure = failed;
        ended.countDown();
    }

    int contentLength() {
        return content.size();
    }

    String content() {
        return content.toString(StandardCharsets.ISO_8859_1);
    }

    byte[] contentBytes() {
        return content.toByteArray();
    }

    RecordedResponse awaitHead() throws InterruptedException {
        assertTrue(headArrived.await(WAIT_SECONDS, TimeUnit.SECONDS), "no head");
        return this;
    }

    /** Waits for the end, which must be a complete response. */
    RecordedResponse awaitComplete() throws InterruptedException {
        awaitEnd();
        assertNull(failure, () -> "failed: " + failure);
        return this;
    }

    /** Waits for the end, which must be a failure. */
    OriginFailure awaitFailure() throws InterruptedException {
        awaitEnd();
        assertTrue(failure != null, () -> "complete: " + head);
        return failure;
    }

    private void awaitEnd() throws InterruptedException {
        assertTrue(ended.await(WAIT_SECONDS, TimeUnit.SECONDS), "no end");
        assertTrue(disorder.isEmpty(), disorder::toString);
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            disorder.add(otherwise);
        }
    }
}
