package io.millrace.proxy.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

/** How a stored body that is in RAM is given. */
class StoredBodyTest {
    private static final int MIB = 1 << 20;
    private static final int LENGTH = 5 * MIB + 77;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ByteBuf bytes = Unpooled.wrappedBuffer(new byte[LENGTH]);
    private int released;

    /** Takes all as it comes, as a client does that is as fast as the proxy. */
    private static final class EagerSink implements ContentSink {
        private StoredBody body;
        private int taken;
        private boolean pulling;
        private boolean outstanding;
        private boolean ended;

        void pullAll(StoredBody from) {
            body = from;
            pull();
        }

        private void pull() {
            if (pulling) {
                return;
            }
            pulling = true;
            while (!outstanding && !ended) {
                outstanding = true;
                body.pull();
            }
            pulling = false;
        }

        @Override
        public void onContent(ByteBuf content) {
            taken += content.readableBytes();
            outstanding = false;
            content.release();
            pull();
        }

        @Override
        public void onEnd() {
            ended = true;
        }

        @Override
        public void onFailure(ContentFailure failure) {
            throw new AssertionError(failure);
        }
    }

    /** An object of which all is in RAM, in pieces. */
    private StoredObject<?> inRam() {
        return (StoredObject<?>) Proxy.newProxyInstance(
                StoredObject.class.getClassLoader(), new Class<?>[] {StoredObject.class}, (self, method, arguments) -> {
                    return switch (method.getName()) {
                        case "residentPart" -> {
                            int from = Math.toIntExact((Long) arguments[0]);
                            yield bytes.retainedSlice(from, Math.min((Integer) arguments[1], LENGTH - from));
                        }
                        case "release" -> {
                            released++;
                            yield true;
                        }
                        default -> throw new AssertionError(method);
                    };
                });
    }

    @Test
    void theLoopHasTimeForOthersAfterEachMegabyte() {
        EagerSink sink = new EagerSink();
        StoredBody body = new StoredBody(inRam(), channel.eventLoop(), sink, 0, LENGTH);
        int turns = 0;
        int before = 0;
        sink.pullAll(body);
        while (!sink.ended) {
            assertTrue(
                    sink.taken - before <= MIB + StoredObject.READ_LENGTH_MAX, "in one turn " + (sink.taken - before));
            before = sink.taken;
            turns++;
            channel.runPendingTasks();
        }
        assertEquals(LENGTH, sink.taken);
        assertTrue(turns >= LENGTH / (MIB + StoredObject.READ_LENGTH_MAX), "turns " + turns);
        body.close();
        assertEquals(1, released);
        assertEquals(1, bytes.refCnt());
    }

    @Test
    void aReceiverThatLeavesBeforeItsTurnKeepsNothing() {
        EagerSink sink = new EagerSink();
        StoredBody body = new StoredBody(inRam(), channel.eventLoop(), sink, 0, LENGTH);
        sink.pullAll(body);
        assertTrue(sink.outstanding);
        body.close();
        assertEquals(1, released);
        channel.runPendingTasks();
        channel.runPendingTasks();
        assertEquals(MIB, sink.taken);
        assertEquals(1, released);
        assertEquals(1, bytes.refCnt());
    }

    @Test
    void aPartIsReadFromItsFirstToItsLastByte() {
        EagerSink sink = new EagerSink();
        StoredBody body = new StoredBody(inRam(), channel.eventLoop(), sink, 1000, 300_001);
        sink.pullAll(body);
        assertTrue(sink.ended);
        assertEquals(299_001, sink.taken);
        body.close();
        assertEquals(1, released);
    }
}
