package io.millrace.proxy.fill;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.ContentFailure;
import io.millrace.proxy.http.ContentSink;
import io.millrace.store.StoredObject;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResponseTeeTest {
    private static final EventExecutor HERE = ImmediateEventExecutor.INSTANCE;
    private static final int WINDOW = 100;

    private final EmbeddedChannel turns = new EmbeddedChannel();
    private final FlowRecorder feed = new FlowRecorder();
    private final List<ByteBuf> handedIn = new ArrayList<>();

    @AfterEach
    void everyBufferIsReleased() {
        for (ByteBuf buffer : handedIn) {
            assertEquals(0, buffer.refCnt(), "a piece was not released");
        }
    }

    @Test
    void readerGetsEveryByteInOrder() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, false, feed);
        Reading reading = Reading.of(tee);
        byte[] body = bytes(500);
        feed(tee, body, 7);
        tee.end();
        assertArrayEquals(body, reading.bytes());
        assertTrue(reading.ended);
    }

    @Test
    void lateReaderStartsAtTheFirstByteWhileTheWindowHasIt() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        Reading first = Reading.of(tee);
        byte[] body = bytes(90);
        feed(tee, body, 10);
        assertTrue(tee.canRead(0));
        Reading late = Reading.of(tee);
        tee.end();
        assertArrayEquals(body, first.bytes());
        assertArrayEquals(body, late.bytes());
    }

    @Test
    void noReaderJoinsOnceTheFirstByteIsGone() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        Reading.of(tee);
        feed(tee, bytes(WINDOW * 3), 10);
        assertFalse(tee.canRead(0));
        tee.end();
    }

    @Test
    void originIsPausedWhileASlowReaderNeedsTheWindow() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, false, feed);
        Reading slow = Reading.stalled(tee);
        feed(tee, bytes(WINDOW + 10), 10);
        assertFalse(feed.open, "the origin goes on");
        slow.go();
        assertTrue(feed.open, "the origin stays paused");
        tee.end();
        assertEquals(WINDOW + 10, slow.bytes().length);
    }

    @Test
    void leavingReaderFreesTheWindow() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, false, feed);
        Reading slow = Reading.stalled(tee);
        Reading quick = Reading.of(tee);
        feed(tee, bytes(WINDOW + 10), 10);
        assertFalse(feed.open);
        slow.reader.close();
        assertTrue(feed.open);
        tee.end();
        assertEquals(WINDOW + 10, quick.bytes().length);
    }

    @Test
    void lastReaderLeavingIsTold() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, false, feed);
        Reading only = Reading.of(tee);
        only.reader.close();
        assertEquals(1, feed.timesWithoutReaders);
        tee.fail(ContentFailure.ORIGIN_TRUNCATED);
    }

    @Test
    void failureComesAfterTheBytesBeforeIt() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, false, feed);
        Reading reading = Reading.stalled(tee);
        feed(tee, bytes(30), 10);
        tee.fail(ContentFailure.ORIGIN_TRUNCATED);
        reading.go();
        assertEquals(30, reading.bytes().length);
        assertEquals(ContentFailure.ORIGIN_TRUNCATED, reading.failure);
        assertFalse(reading.ended);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 9, 10, 11, 55})
    void narrowedReaderGetsItsPartOnly(long first) {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        Reading reading = Reading.stalled(tee);
        reading.reader.narrow(first, first + 20);
        byte[] body = bytes(90);
        feed(tee, body, 10);
        reading.go();
        assertArrayEquals(Arrays.copyOfRange(body, (int) first, (int) first + 20), reading.bytes());
        assertTrue(reading.ended);
        tee.end();
    }

    @Test
    void slowReaderOfAStoredBodyReadsBehindTheWindowFromTheStore() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, -1, false, 0);
        Reading slow = Reading.stalled(tee);
        byte[] body = bytes(WINDOW * 5);
        feed(tee, body, 10);
        assertTrue(feed.open, "a stored body flows at the store's pace");
        tee.end();
        slow.go();
        assertArrayEquals(body, slow.bytes());
        assertArrayEquals(body, writer.bytes());
        assertEquals(body.length, writer.completedLength);
        assertEquals(0, writer.references, "the written object is released");
    }

    @Test
    void storedObjectIsCompleteBeforeAReaderHasItsLastByte() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, 20, false, 0);
        List<Long> completedWhenReceived = new ArrayList<>();
        Reading reading = Reading.stalled(tee);
        reading.onPiece = () -> completedWhenReceived.add(writer.completedLength);
        reading.go();
        feed(tee, bytes(20), 10);
        assertEquals(List.of(-1L, 20L), completedWhenReceived);
        tee.end();
        assertTrue(reading.ended);
    }

    @Test
    void originIsPausedWhileTheStoreIsFull() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, -1, false, 0);
        Reading.of(tee);
        writer.writable = false;
        feed(tee, bytes(10), 10);
        assertFalse(feed.open);
        writer.makeWritable();
        assertTrue(feed.open);
        tee.end();
    }

    @Test
    void failedFillIsGivenUpInTheStore() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, -1, false, 0);
        Reading.of(tee);
        feed(tee, bytes(10), 10);
        tee.fail(ContentFailure.ORIGIN_TRUNCATED);
        assertTrue(writer.aborted);
        assertEquals(-1, writer.completedLength);
        assertEquals(0, writer.references);
    }

    @Test
    void bodyThatTurnsOutTooLongIsGivenUpByTheStoreAndGoesOnToItsReaders() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, -1, false, 250);
        Reading fast = Reading.of(tee);
        Reading slow = Reading.stalled(tee);
        byte[] body = bytes(WINDOW * 5);
        feed(tee, body, 10);
        assertTrue(writer.aborted);
        assertTrue(tee.isTooLarge());
        assertFalse(tee.isStoring());
        assertEquals(250, writer.bytes().length);
        tee.end();
        slow.go();
        assertArrayEquals(body, fast.bytes());
        assertArrayEquals(body, slow.bytes());
        assertEquals(-1, writer.completedLength);
        assertEquals(0, writer.references);
    }

    @Test
    void bodyOfJustTheLongestLengthIsStored() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, -1, false, 250);
        Reading.of(tee);
        feed(tee, bytes(250), 10);
        tee.end();
        assertFalse(tee.isTooLarge());
        assertEquals(250, writer.completedLength);
    }

    @Test
    void readerOnAnotherThreadGetsEveryByte() throws Exception {
        DefaultEventExecutor teeLoop = new DefaultEventExecutor();
        DefaultEventExecutor readerLoop = new DefaultEventExecutor();
        try {
            byte[] body = bytes(5000);
            ResponseTee tee = new ResponseTee(teeLoop, 100_000, true, feed);
            CompletableFuture<Reading> done = new CompletableFuture<>();
            ResponseTee.Reader[] reader = new ResponseTee.Reader[1];
            Reading reading = new Reading();
            reading.whenOver = () -> done.complete(reading);
            teeLoop.submit(() -> {
                        reader[0] = tee.read(readerLoop, reading);
                        reading.reader = reader[0];
                    })
                    .sync();
            readerLoop.execute(reading::go);
            teeLoop.submit(() -> {
                        feed(tee, body, 13);
                        tee.end();
                    })
                    .sync();
            assertArrayEquals(body, done.get().bytes());
        } finally {
            readerLoop
                    .shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS)
                    .sync();
            teeLoop.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS)
                    .sync();
        }
    }

    @Test
    void randomReadersAllGetTheirBytes() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            FlowRecorder flow = new FlowRecorder();
            ResponseTee tee = new ResponseTee(turns.eventLoop(), 1 + random.nextInt(200), true, flow);
            byte[] body = bytes(random.nextInt(1000));
            if (random.nextBoolean()) {
                tee.storeTo(new RecordedWriter(), random.nextBoolean() ? -1 : body.length, false, 0);
            }
            List<Reading> readings = new ArrayList<>();
            readings.add(Reading.of(tee));
            int position = 0;
            while (position < body.length) {
                if (random.nextInt(10) == 0 && tee.canRead(0)) {
                    readings.add(random.nextBoolean() ? Reading.of(tee) : Reading.stalled(tee));
                }
                if (random.nextInt(3) == 0) {
                    turn();
                }
                int length = Math.min(body.length - position, 1 + random.nextInt(50));
                tee.content(piece(Arrays.copyOfRange(body, position, position + length)));
                position += length;
            }
            tee.end();
            for (Reading reading : readings) {
                reading.go();
            }
            turn();
            turn();
            for (Reading reading : readings) {
                assertArrayEquals(body, reading.bytes(), "seed " + seed + ", round " + round);
                assertTrue(reading.ended);
                assertNull(reading.failure);
            }
        }
    }

    @Test
    void severalReadersGetWhatCameInOneTurnAsOnePieceEach() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), WINDOW, true, feed);
        List<Reading> readings = List.of(Reading.of(tee, turns), Reading.of(tee, turns), Reading.of(tee, turns));
        byte[] body = bytes(60);
        feed(tee, body, 7);
        for (Reading reading : readings) {
            assertEquals(0, reading.pieces, "before the loop has read all there is");
        }
        turn();
        for (Reading reading : readings) {
            assertEquals(1, reading.pieces);
            assertArrayEquals(body, reading.bytes());
        }
        tee.end();
        for (Reading reading : readings) {
            assertTrue(reading.ended);
        }
    }

    @Test
    void manyReadersAreServedInSeveralTurnsTheFirstOnesFirst() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), 4 << 20, true, feed);
        List<Reading> readings = severalReading(tee, 5);
        byte[] body = bytes(1 << 20);
        feed(tee, body, 64 * 1024);
        tee.end();
        for (int done = 1; done <= readings.size(); done++) {
            for (int i = 0; i < readings.size(); i++) {
                assertEquals(i < done ? body.length : 0, readings.get(i).bytes().length, "reader " + i + " of " + done);
            }
            turn();
        }
        for (Reading reading : readings) {
            assertArrayEquals(body, reading.bytes());
            assertTrue(reading.ended);
        }
    }

    @Test
    void aSlowReaderIsGivenNoMoreAtOnceThanOneOfWhatIsStored() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), 4 << 20, true, feed);
        List<Reading> readings = severalReading(tee, 2);
        byte[] body = bytes(3 << 20);
        feed(tee, body, 60_000);
        turn();
        turn();
        for (Reading reading : readings) {
            assertArrayEquals(body, reading.bytes());
            assertTrue(reading.longestPiece <= StoredObject.READ_LENGTH_MAX, "piece of " + reading.longestPiece);
        }
        tee.end();
    }

    @Test
    void aPieceIsJoinedOfNoMoreThanTheKernelTakesAtOnce() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), 100_000, true, feed);
        List<Reading> readings = severalReading(tee, 2);
        byte[] body = bytes(30_000);
        feed(tee, body, 10);
        turn();
        for (Reading reading : readings) {
            assertArrayEquals(body, reading.bytes());
            assertTrue(reading.mostBuffers <= 64, "buffers " + reading.mostBuffers);
        }
        tee.end();
    }

    @Test
    void whatReadersWaitToBeServedWithStaysInTheWindow() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), WINDOW, true, feed);
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, -1, false, 0);
        List<Reading> readings = severalReading(tee, 2);
        byte[] body = bytes(WINDOW * 3);
        feed(tee, body, 10);
        assertFalse(feed.open, "they hold up the origin until their turn");
        turn();
        assertTrue(feed.open);
        for (Reading reading : readings) {
            assertArrayEquals(body, reading.bytes());
        }
        assertEquals(0, writer.reads, "nobody reads from the store what was in the window");
        tee.end();
    }

    /** As with a stored first part that is in RAM. */
    @Test
    void whatComesInTheMiddleOfServingStaysInTheWindowToo() {
        byte[] body = bytes(WINDOW * 20);
        int[] position = {0};
        boolean[] flowing = {true};
        ResponseTee[] itself = new ResponseTee[1];
        ResponseTee tee = new ResponseTee(turns.eventLoop(), WINDOW, true, new ResponseTee.Feed() {
            @Override
            public void onFlow(boolean open) {
                flowing[0] = open;
                send(itself[0], body, position, flowing);
            }

            @Override
            public void onNoReaders() {}
        });
        itself[0] = tee;
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, -1, false, 0);
        List<Reading> readings = severalReading(tee, 3);
        send(tee, body, position, flowing);
        for (int turn = 0; position[0] < body.length && turn < body.length; turn++) {
            turn();
        }
        turn();
        tee.end();
        for (Reading reading : readings) {
            assertArrayEquals(body, reading.bytes());
            assertTrue(reading.ended);
        }
        assertEquals(0, writer.reads, "nobody reads from the store what was in the window");
    }

    private void send(ResponseTee tee, byte[] body, int[] position, boolean[] flowing) {
        while (flowing[0] && position[0] < body.length) {
            int from = position[0];
            position[0] += 20;
            tee.content(piece(Arrays.copyOfRange(body, from, position[0])));
        }
    }

    @Test
    void partsOfABodyAreCutOutOfWhatSeveralReadersGet() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), 1000, true, feed);
        byte[] body = bytes(200);
        List<Reading> readings = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Reading reading = Reading.stalled(tee, turns);
            reading.reader.narrow(i * 3L, 100 + i * 5L);
            reading.go();
            readings.add(reading);
        }
        feed(tee, body, 11);
        turn();
        tee.end();
        for (int i = 0; i < 20; i++) {
            assertArrayEquals(
                    Arrays.copyOfRange(body, i * 3, 100 + i * 5),
                    readings.get(i).bytes());
            assertTrue(readings.get(i).ended);
        }
    }

    @Test
    void aReaderThatLeavesBeforeItsTurnGetsNothing() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), WINDOW, true, feed);
        Reading leaving = Reading.of(tee, turns);
        Reading staying = Reading.of(tee, turns);
        byte[] body = bytes(30);
        feed(tee, body, 10);
        leaving.reader.close();
        turn();
        assertEquals(0, leaving.pieces);
        assertArrayEquals(body, staying.bytes());
        tee.end();
        assertTrue(staying.ended);
    }

    @Test
    void readersThatHaveLeftLeaveASingleOneEachPieceAtOnce() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), WINDOW, true, feed);
        Reading staying = Reading.of(tee, turns);
        for (Reading leaving : severalReading(tee, 10)) {
            leaving.reader.close();
        }
        byte[] body = bytes(30);
        feed(tee, body, 10);
        assertArrayEquals(body, staying.bytes());
        tee.end();
        assertTrue(staying.ended);
    }

    @Test
    void aReaderThatFailsKeepsNoOtherFromItsTurn() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), 4 << 20, true, feed);
        List<Reading> readings = severalReading(tee, 4);
        for (Reading failing : readings.subList(0, 2)) {
            failing.onPiece = () -> {
                failing.reader.close();
                throw new IllegalStateException("a fault of its own");
            };
        }
        byte[] body = bytes(1000);
        feed(tee, body, 100);
        assertThrows(IllegalStateException.class, tee::end);
        turn();
        assertThrows(IllegalStateException.class, turns::checkException);
        turn();
        for (Reading reading : readings.subList(2, 4)) {
            assertArrayEquals(body, reading.bytes());
            assertTrue(reading.ended);
        }
    }

    private List<Reading> severalReading(ResponseTee tee, int count) {
        List<Reading> readings = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            readings.add(Reading.of(tee, turns));
        }
        return readings;
    }

    /** One turn of the event loop. */
    private void turn() {
        turns.runScheduledPendingTasks();
        turns.runPendingTasks();
    }

    private void feed(ResponseTee tee, byte[] body, int pieceLength) {
        for (int position = 0; position < body.length; position += pieceLength) {
            tee.content(piece(Arrays.copyOfRange(body, position, Math.min(body.length, position + pieceLength))));
        }
    }

    private ByteBuf piece(byte[] bytes) {
        ByteBuf buffer = Unpooled.directBuffer(bytes.length).writeBytes(bytes);
        handedIn.add(buffer);
        return buffer;
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 8));
        }
        return bytes;
    }

    private static final class FlowRecorder implements ResponseTee.Feed {
        volatile boolean open = true;
        int timesWithoutReaders;

        @Override
        public void onFlow(boolean now) {
            open = now;
        }

        @Override
        public void onNoReaders() {
            timesWithoutReaders++;
        }
    }

    /** A reader that pulls whenever it is allowed to. */
    private static final class Reading implements ContentSink {
        private final ByteArrayOutputStream received = new ByteArrayOutputStream();
        ResponseTee.Reader reader;
        int pieces;
        int longestPiece;
        int mostBuffers;
        boolean ended;
        ContentFailure failure;
        Runnable whenOver = () -> {};
        Runnable onPiece = () -> {};
        private boolean going;
        private boolean outstanding;

        static Reading of(ResponseTee tee) {
            Reading reading = stalled(tee);
            reading.go();
            return reading;
        }

        static Reading of(ResponseTee tee, EmbeddedChannel loop) {
            Reading reading = stalled(tee, loop);
            reading.go();
            return reading;
        }

        static Reading stalled(ResponseTee tee, EmbeddedChannel loop) {
            Reading reading = new Reading();
            reading.reader = tee.read(loop.eventLoop(), reading);
            return reading;
        }

        static Reading stalled(ResponseTee tee) {
            Reading reading = new Reading();
            reading.reader = tee.read(HERE, reading);
            return reading;
        }

        void go() {
            going = true;
            pull();
        }

        private void pull() {
            if (going && !outstanding && !ended && failure == null) {
                outstanding = true;
                reader.pull();
            }
        }

        byte[] bytes() {
            return received.toByteArray();
        }

        @Override
        public void onContent(ByteBuf content) {
            outstanding = false;
            longestPiece = Math.max(longestPiece, content.readableBytes());
            mostBuffers = Math.max(mostBuffers, content.nioBufferCount());
            byte[] bytes = new byte[content.readableBytes()];
            content.readBytes(bytes).release();
            received.writeBytes(bytes);
            pieces++;
            onPiece.run();
            pull();
        }

        @Override
        public void onEnd() {
            ended = true;
            reader.close();
            whenOver.run();
        }

        @Override
        public void onFailure(ContentFailure reason) {
            failure = reason;
            reader.close();
            whenOver.run();
        }
    }
}
