package io.millrace.proxy.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.validate.RangeSelection.ByteRange;
import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests the sending of a stored body in RAM. */
class StoredBodyTest {
    private static final int MIB = 1 << 20;
    private static final int PIECE = StoredObject.READ_LENGTH_MAX;
    private static final int LENGTH = 5 * MIB + 77;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ByteBuf bytes = Unpooled.wrappedBuffer(new byte[LENGTH]);
    private int released;
    private final List<String> reads = new ArrayList<>();

    StoredBodyTest() {
        for (int i = 0; i < LENGTH; i++) {
            bytes.setByte(i, i * 31);
        }
    }

    /** Accepts everything at once, like a client that is as fast as the proxy. */
    private static final class EagerSink implements ContentSink {
        private StoredBody body;
        private int first;
        private int taken;
        private boolean pulling;
        private boolean outstanding;
        private boolean ended;
        private boolean secure;
        private final List<Integer> pieces = new ArrayList<>();

        @Override
        public boolean keepsCopies() {
            return secure;
        }

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
            pieces.add(content.readableBytes());
            checkBytes(content, first + taken);
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

    private static void checkBytes(ByteBuf content, int endsAt) {
        int first = endsAt - content.readableBytes();
        assertEquals((byte) (first * 31), content.getByte(content.readerIndex()), "first byte, at " + first);
        assertEquals(
                (byte) ((endsAt - 1) * 31), content.getByte(content.writerIndex() - 1), "last, at " + (endsAt - 1));
    }

    /** Returns an object that is entirely in RAM as one body. */
    private StoredObject<?> inRam() {
        return object(bytes, LENGTH);
    }

    /** Returns an object whose beginning is in RAM, in pieces. */
    private StoredObject<?> inPieces(int length) {
        return object(null, length);
    }

    private StoredObject<?> object(@Nullable ByteBuf whole, int residentBytes) {
        return (StoredObject<?>) Proxy.newProxyInstance(
                StoredObject.class.getClassLoader(), new Class<?>[] {StoredObject.class}, (self, method, arguments) -> {
                    return switch (method.getName()) {
                        case "residentPart" -> {
                            int from = Math.toIntExact((Long) arguments[0]);
                            int length = (Integer) arguments[1];
                            int rest = whole == null ? PIECE - from % PIECE : LENGTH;
                            yield from >= residentBytes
                                    ? null
                                    : bytes.retainedSlice(from, Math.min(Math.min(length, rest), LENGTH - from));
                        }
                        case "residentBody" -> whole;
                        case "read" -> {
                            reads.add(arguments[0] + "+" + arguments[1]);
                            yield null;
                        }
                        case "retain" -> self;
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
    void aWholeBodyIsGivenByTheMegabyte() {
        EagerSink sink = new EagerSink();
        give(inRam(), sink, LENGTH);
        assertEquals(List.of(MIB, MIB, MIB, MIB, MIB, 77), sink.pieces);
    }

    @Test
    void piecesGoTogetherAsTheClientIsSeenToTakeThem() {
        EagerSink sink = new EagerSink();
        give(inPieces(LENGTH), sink, LENGTH);
        assertEquals(List.of(PIECE, 2 * PIECE, PIECE, MIB, MIB, MIB, MIB, 77), sink.pieces);
    }

    @Test
    void sinksThatKeepCopiesReceiveOnePieceAtATime() {
        for (StoredObject<?> object : List.of(inRam(), inPieces(LENGTH))) {
            EagerSink sink = new EagerSink();
            sink.secure = true;
            give(object, sink, MIB + 1);
            assertEquals(List.of(PIECE, PIECE, PIECE, PIECE, 1), sink.pieces);
        }
    }

    @Test
    void slowSinksReceiveOnePieceAtATime() {
        EagerSink sink = new EagerSink();
        StoredBody body = new StoredBody(inPieces(LENGTH), channel.eventLoop(), sink, 0, LENGTH);
        sink.pulling = true;
        for (int given = 0; given < 12; given++) {
            body.pull();
            while (sink.pieces.size() == given) {
                channel.runPendingTasks();
            }
            body.onBehind();
        }
        assertEquals(Collections.nCopies(12, PIECE), sink.pieces);
        body.close();
        assertEquals(1, bytes.refCnt());
    }

    @Test
    void piecesGoTogetherAgainAfterMoreThanTheKernelKeepsForAClient() {
        EagerSink sink = new EagerSink();
        StoredBody body = new StoredBody(inPieces(LENGTH), channel.eventLoop(), sink, 0, LENGTH);
        sink.pulling = true;
        body.pull();
        body.onBehind();
        sink.pulling = false;
        sink.outstanding = false;
        sink.pullAll(body);
        while (!sink.ended) {
            channel.runPendingTasks();
        }
        List<Integer> expected = new ArrayList<>(Collections.nCopies(18, PIECE));
        expected.addAll(List.of(2 * PIECE, 77));
        assertEquals(expected, sink.pieces);
        body.close();
        assertEquals(1, bytes.refCnt());
    }

    @Test
    void bytesOutsideOfRamEndABatch() {
        EagerSink sink = new EagerSink();
        StoredBody body = new StoredBody(inPieces(2 * PIECE), channel.eventLoop(), sink, 0, LENGTH);
        sink.pullAll(body);
        assertEquals(List.of(PIECE, PIECE), sink.pieces);
        assertEquals(List.of(2 * PIECE + "+" + PIECE), reads);
        assertEquals(1, bytes.refCnt());
    }

    @Test
    void severalRangesAreGivenLikeOne() {
        for (boolean secure : new boolean[] {false, true}) {
            List<Integer> pieces = new ArrayList<>();
            ContentSink sink = (ContentSink) Proxy.newProxyInstance(
                    ContentSink.class.getClassLoader(),
                    new Class<?>[] {ContentSink.class},
                    (self, method, arguments) -> switch (method.getName()) {
                        case "keepsCopies" -> secure;
                        case "onContent" -> {
                            ByteBuf content = (ByteBuf) arguments[0];
                            pieces.add(content.readableBytes());
                            content.release();
                            yield null;
                        }
                        default -> throw new AssertionError(method);
                    });
            ByteRanges ranges =
                    ByteRanges.of(List.of(new ByteRange(0, 3 * MIB - 1), new ByteRange(0, 9)), head(), LENGTH);
            MultipartBody body = new MultipartBody(ranges, inPieces(LENGTH), channel.eventLoop(), sink);
            for (int given = 0; given < 6; given++) {
                if (given == 5) {
                    body.onBehind();
                }
                body.pull();
                while (pieces.size() == given) {
                    channel.runPendingTasks();
                }
            }
            // The first bytes are those before the range.
            assertEquals(
                    secure
                            ? List.of(PIECE, PIECE, PIECE, PIECE, PIECE)
                            : List.of(PIECE, 2 * PIECE, PIECE, 4 * PIECE, PIECE),
                    pieces.subList(1, 6));
            body.close();
            assertEquals(1, bytes.refCnt());
        }
    }

    private static StoredHead head() {
        FieldSection fields =
                FieldSection.builder().add("Cache-Control", "max-age=60").build();
        TargetUri url = (TargetUri) TargetUri.parseAbsolute("http://a.example/");
        return StoredHead.of(
                RequestHead.of("GET", url, FieldSection.EMPTY),
                ResponseHead.of(200, "OK", fields),
                1000,
                2000,
                CacheSettings.DEFAULTS);
    }

    private void give(StoredObject<?> object, EagerSink sink, int length) {
        StoredBody body = new StoredBody(object, channel.eventLoop(), sink, 0, length);
        sink.pullAll(body);
        while (!sink.ended) {
            channel.runPendingTasks();
        }
        body.close();
        assertEquals(length, sink.taken);
        assertEquals(1, bytes.refCnt());
    }

    @Test
    void aPartIsReadFromItsFirstToItsLastByte() {
        EagerSink sink = new EagerSink();
        sink.first = 1000;
        StoredBody body = new StoredBody(inRam(), channel.eventLoop(), sink, 1000, 300_001);
        sink.pullAll(body);
        assertTrue(sink.ended);
        assertEquals(299_001, sink.taken);
        body.close();
        assertEquals(1, released);
    }
}
