package io.millrace.proxy.fill;

import static io.millrace.proxy.fill.OriginPieces.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.StoredObject;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests several readers of one origin body: their order, and the bytes in each turn. */
class ResponseTeeTurnsTest {
    private static final int WINDOW = 100;

    private final EmbeddedChannel turns = new EmbeddedChannel();
    private final FlowRecorder feed = new FlowRecorder();
    private final OriginPieces pieces = new OriginPieces();

    @AfterEach
    void everyBufferIsReleased() {
        pieces.assertAllReleased();
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
                tee.content(pieces.piece(Arrays.copyOfRange(body, position, position + length)));
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
    void severalReadersGetTheBytesOfOneTurnAsOnePieceEach() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), WINDOW, true, feed);
        List<Reading> readings = List.of(Reading.of(tee, turns), Reading.of(tee, turns), Reading.of(tee, turns));
        byte[] body = bytes(60);
        pieces.feed(tee, body, 7);
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
        pieces.feed(tee, body, 64 * 1024);
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

    /** A slow client keeps its own copy of them. */
    @Test
    void readersThatKeepCopiesGetNoMoreAtOnceThanReadersOfStoredObjects() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), 4 << 20, true, feed);
        List<Reading> readings = List.of(Reading.keepingCopies(tee, turns), Reading.keepingCopies(tee, turns));
        byte[] body = bytes(3 << 20);
        pieces.feed(tee, body, 60_000);
        turn();
        turn();
        for (Reading reading : readings) {
            assertArrayEquals(body, reading.bytes());
            assertEquals(Collections.nCopies(12, StoredObject.READ_LENGTH_MAX), reading.lengths);
        }
        tee.end();
    }

    /** All slow clients keep the same first bytes, whatever their number; this does not apply to later bytes. */
    @Test
    void manyReadersThatKeepTheirPiecesShareOneLongFirstPiece() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), 4 << 20, true, feed);
        List<Reading> readings = new ArrayList<>(severalReading(tee, 3));
        readings.add(partReading(tee, 300 << 10));
        readings.add(partReading(tee, 900 << 10));
        readings.add(Reading.keepingCopies(tee, turns));
        byte[] body = bytes(2 << 20);
        pieces.feed(tee, body, 60_000);
        for (int i = 0; i < readings.size() * 2; i++) {
            turn();
        }
        int own = StoredObject.READ_LENGTH_MAX;
        for (Reading reading : readings.subList(0, 3)) {
            assertArrayEquals(body, reading.bytes());
            assertEquals(List.of(1 << 20, own, own, own, own), reading.lengths);
        }
        assertEquals(List.of(724 << 10, own, own, own, own), readings.get(3).lengths);
        assertEquals(List.of(own, own, own, own, 124 << 10), readings.get(4).lengths);
        assertEquals(Collections.nCopies(8, own), readings.get(5).lengths);
        tee.end();
    }

    /** Bytes that a few clients share might finally be kept by a single one. */
    @Test
    void aFewReadersGetNoMoreAtOnceThanReadersOfStoredObjects() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), 4 << 20, true, feed);
        List<Reading> readings = severalReading(tee, 3);
        byte[] body = bytes(1 << 20);
        pieces.feed(tee, body, 60_000);
        for (int i = 0; i < readings.size(); i++) {
            turn();
        }
        for (Reading reading : readings) {
            assertArrayEquals(body, reading.bytes());
            assertEquals(Collections.nCopies(4, StoredObject.READ_LENGTH_MAX), reading.lengths);
        }
        tee.end();
    }

    private Reading partReading(ResponseTee tee, int from) {
        Reading reading = Reading.stalled(tee, turns);
        reading.reader.narrow(from, 2 << 20);
        reading.go();
        return reading;
    }

    @Test
    void aPieceIsNoLongerThanTheKernelAcceptsAtOnce() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), 100_000, true, feed);
        List<Reading> readings = severalReading(tee, 2);
        byte[] body = bytes(30_000);
        pieces.feed(tee, body, 10);
        turn();
        for (Reading reading : readings) {
            assertArrayEquals(body, reading.bytes());
            assertTrue(reading.mostBuffers <= 64, "buffers " + reading.mostBuffers);
        }
        tee.end();
    }

    @Test
    void piecesThatReadersWaitForStayInTheWindow() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), WINDOW, true, feed);
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, -1, false, 0);
        List<Reading> readings = severalReading(tee, 2);
        byte[] body = bytes(WINDOW * 3);
        pieces.feed(tee, body, 10);
        assertFalse(feed.open, "they hold up the origin until their turn");
        turn();
        assertTrue(feed.open);
        for (Reading reading : readings) {
            assertArrayEquals(body, reading.bytes());
        }
        assertEquals(0, writer.reads, "nobody reads from the store what was in the window");
        tee.end();
    }

    /** As with a stored first part in RAM. */
    @Test
    void piecesThatArriveDuringATurnStayInTheWindow() {
        byte[] body = bytes(WINDOW * 20);
        int[] position = {0};
        boolean[] flowing = {true};
        ResponseTee[] itself = new ResponseTee[1];
        ResponseTee tee = new ResponseTee(turns.eventLoop(), WINDOW, true, new ResponseTee.Feed() {
            @Override
            public void setReading(boolean open) {
                flowing[0] = open;
                send(itself[0], body, position, flowing);
            }

            @Override
            public void onNoReaders() {}

            @Override
            public void onTooLarge(long received) {}
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
            tee.content(pieces.piece(Arrays.copyOfRange(body, from, position[0])));
        }
    }

    @Test
    void partsOfABodyAreSlicesOfTheBytesOfSeveralReaders() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), 1000, true, feed);
        byte[] body = bytes(200);
        List<Reading> readings = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Reading reading = Reading.stalled(tee, turns);
            reading.reader.narrow(i * 3L, 100 + i * 5L);
            reading.go();
            readings.add(reading);
        }
        pieces.feed(tee, body, 11);
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
        pieces.feed(tee, body, 10);
        leaving.reader.close();
        turn();
        assertEquals(0, leaving.pieces);
        assertArrayEquals(body, staying.bytes());
        tee.end();
        assertTrue(staying.ended);
    }

    @Test
    void aSingleRemainingReaderGetsEachPieceAtOnce() {
        ResponseTee tee = new ResponseTee(turns.eventLoop(), WINDOW, true, feed);
        Reading staying = Reading.of(tee, turns);
        for (Reading leaving : severalReading(tee, 10)) {
            leaving.reader.close();
        }
        byte[] body = bytes(30);
        pieces.feed(tee, body, 10);
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
        pieces.feed(tee, body, 100);
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

    /** Runs one iteration of the event loop. */
    private void turn() {
        turns.runScheduledPendingTasks();
        turns.runPendingTasks();
    }
}
