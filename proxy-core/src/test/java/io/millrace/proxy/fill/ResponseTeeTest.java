package io.millrace.proxy.fill;

import static io.millrace.proxy.fill.OriginPieces.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.ContentFailure;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the transfer of one origin body to its readers and into the store. */
class ResponseTeeTest {
    private static final EventExecutor HERE = ImmediateEventExecutor.INSTANCE;
    private static final int WINDOW = 100;
    private static final int KIB = 1024;

    private final FlowRecorder feed = new FlowRecorder();
    private final OriginPieces pieces = new OriginPieces();

    @AfterEach
    void everyBufferIsReleased() {
        pieces.assertAllReleased();
    }

    @Test
    void readerGetsEveryByteInOrder() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, false, feed);
        Reading reading = Reading.of(tee);
        byte[] body = bytes(500);
        pieces.feed(tee, body, 7);
        tee.end();
        assertArrayEquals(body, reading.bytes());
        assertTrue(reading.ended);
    }

    @Test
    void lateReaderStartsAtTheFirstByteWhileTheWindowHasIt() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        Reading first = Reading.of(tee);
        byte[] body = bytes(90);
        pieces.feed(tee, body, 10);
        assertTrue(tee.canRead(0));
        Reading late = Reading.of(tee);
        tee.end();
        assertArrayEquals(body, first.bytes());
        assertArrayEquals(body, late.bytes());
    }

    @Test
    void noReaderJoinsAfterTheFirstByteWasDropped() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        Reading.of(tee);
        pieces.feed(tee, bytes(WINDOW * 3), 10);
        assertFalse(tee.canRead(0));
        tee.end();
    }

    @Test
    void originIsPausedWhileASlowReaderNeedsTheWindow() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, false, feed);
        Reading slow = Reading.stalled(tee);
        pieces.feed(tee, bytes(WINDOW + 10), 10);
        assertFalse(feed.open, "the origin goes on");
        slow.go();
        assertTrue(feed.open, "the origin stays paused");
        tee.end();
        assertEquals(WINDOW + 10, slow.bytes().length);
    }

    /**
     * A client that never reads fills the buffers of its connection. Bytes accepted beyond these show that it reads.
     */
    @ParameterizedTest
    @CsvSource({"0, 16", "100, 16", "512, 16", "612, 100", "1536, 1024", "4000, 1024"})
    void windowOfAnUnstoredBodyGrowsByTheBytesRead(int takenKib, int windowKib) {
        ResponseTee tee = new ResponseTee(HERE, 1024 * KIB, false, feed);
        Reading reading = Reading.stalled(tee);
        if (takenKib > 0) {
            reading.go();
            pieces.feed(tee, bytes((takenKib - 1) * KIB), KIB);
            reading.stall();
            pieces.feed(tee, bytes(KIB), KIB);
        }
        assertTrue(feed.open, "the reader has all that came");
        assertEquals(windowKib + 1, kibUntilPaused(tee));
        reading.go();
        assertTrue(feed.open, "the origin stays paused");
        tee.end();
        assertEquals((takenKib + windowKib + 1) * KIB, reading.bytes().length);
    }

    @Test
    void slowestReaderSetsTheWindowOfABodyThatIsNotStored() {
        ResponseTee tee = new ResponseTee(HERE, 1024 * KIB, false, feed);
        Reading slow = Reading.stalled(tee);
        Reading quick = Reading.of(tee);
        assertEquals(17, kibUntilPaused(tee));
        slow.go();
        tee.end();
        assertEquals(17 * KIB, slow.bytes().length);
        assertEquals(17 * KIB, quick.bytes().length);
    }

    @Test
    void storedBodyHasTheWholeWindowFromTheStart() {
        ResponseTee tee = new ResponseTee(HERE, 1024 * KIB, true, feed);
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, -1, false, 0);
        Reading slow = Reading.stalled(tee);
        pieces.feed(tee, bytes(1024 * KIB), KIB);
        tee.end();
        slow.go();
        assertEquals(0, writer.reads, "some of it left the window");
        assertEquals(1024 * KIB, slow.bytes().length);
    }

    private int kibUntilPaused(ResponseTee tee) {
        int kib = 0;
        while (feed.open) {
            pieces.feed(tee, bytes(KIB), KIB);
            kib++;
        }
        return kib;
    }

    @Test
    void leavingReaderFreesTheWindow() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, false, feed);
        Reading slow = Reading.stalled(tee);
        Reading quick = Reading.of(tee);
        pieces.feed(tee, bytes(WINDOW + 10), 10);
        assertFalse(feed.open);
        slow.reader.close();
        assertTrue(feed.open);
        tee.end();
        assertEquals(WINDOW + 10, quick.bytes().length);
    }

    @Test
    void lastReaderLeavingIsReported() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, false, feed);
        Reading only = Reading.of(tee);
        only.reader.close();
        assertEquals(1, feed.timesWithoutReaders);
        tee.fail(ContentFailure.ORIGIN_TRUNCATED);
    }

    @Test
    void failureIsReportedAfterTheEarlierBytes() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, false, feed);
        Reading reading = Reading.stalled(tee);
        pieces.feed(tee, bytes(30), 10);
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
        pieces.feed(tee, body, 10);
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
        pieces.feed(tee, body, 10);
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
        pieces.feed(tee, bytes(20), 10);
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
        pieces.feed(tee, bytes(10), 10);
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
        pieces.feed(tee, bytes(10), 10);
        tee.fail(ContentFailure.ORIGIN_TRUNCATED);
        assertTrue(writer.aborted);
        assertEquals(-1, writer.completedLength);
        assertEquals(0, writer.references);
    }

    @Test
    void tooLongBodyIsNotStoredButSentToItsReaders() {
        ResponseTee tee = new ResponseTee(HERE, WINDOW, true, feed);
        RecordedWriter writer = new RecordedWriter();
        tee.storeTo(writer, -1, false, 250);
        Reading fast = Reading.of(tee);
        Reading slow = Reading.stalled(tee);
        byte[] body = bytes(WINDOW * 5);
        pieces.feed(tee, body, 10);
        assertEquals(1, feed.timesTooLarge);
        assertFalse(tee.isStoring());
        assertEquals(250, writer.bytes().length);
        assertFalse(writer.aborted, "the slow reader needs what the store has");
        tee.end();
        slow.go();
        assertTrue(writer.aborted);
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
        pieces.feed(tee, bytes(250), 10);
        tee.end();
        assertEquals(0, feed.timesTooLarge);
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
                        pieces.feed(tee, body, 13);
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
}
