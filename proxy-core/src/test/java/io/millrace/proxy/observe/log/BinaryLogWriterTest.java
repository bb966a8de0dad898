package io.millrace.proxy.observe.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.RecordingLogger;
import io.millrace.proxy.observe.log.block.SchemaWriter;
import io.millrace.proxy.observe.log.reader.BinaryLogFile;
import io.millrace.proxy.observe.log.reader.LinePrinter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the files of a binary log: blocks in time, rotation, failed writes, and readers of growing files. */
class BinaryLogWriterTest {
    @TempDir
    Path directory;

    private final AtomicLong clock = new AtomicLong(Duration.ofDays(20_000).toMillis());
    private final FaultLog faults = new FaultLog(new RecordingLogger(), Long.MAX_VALUE, () -> 0);
    private final List<String> warnings = new ArrayList<>();

    private Path file() {
        return directory.resolve("access.blog");
    }

    private AccessLogConfig config() {
        return AccessLogConfig.toFile(file(), AccessLogFormat.BINARY);
    }

    private AccessLogWriter writer(AccessLogConfig config) {
        return new AccessLogWriter(config, faults, clock::get);
    }

    private static void offer(AccessLogRing ring, int number) {
        offer(ring, entry -> entry.text(LogField.URL, "http://h/" + number));
    }

    private static void offer(AccessLogRing ring, Consumer<AccessLogRecord> filler) {
        filler.accept(ring.claim());
        ring.publish();
    }

    /** Returns the paths of the requests in a file, without the slash. */
    private List<String> numbers(Path file) throws IOException {
        List<String> numbers = new ArrayList<>();
        for (String line : BinaryLogSample.printed(AccessLogFormat.SQUID, Files.readAllBytes(file), warnings)) {
            numbers.add(line.replaceFirst(".*http://h/(\\d+) .*\n", "$1"));
        }
        return numbers;
    }

    @Test
    void rowsOfOneSecondShareABlock() throws IOException {
        AccessLogWriter writer = writer(config());
        AccessLogRing ring = writer.newRing();
        offer(ring, 1);
        assertFalse(writer.writeOnce(), "the block has just begun");
        clock.addAndGet(AccessLogWriter.BLOCK_MILLIS - 1);
        offer(ring, 2);
        assertFalse(writer.writeOnce());
        assertFalse(Files.exists(file()));
        clock.addAndGet(1);
        assertTrue(writer.writeOnce());
        assertEquals(List.of("1", "2"), numbers(file()));
        assertEquals(2, writer.written());
        offer(ring, 3);
        writer.finish();
        assertEquals(List.of("1", "2", "3"), numbers(file()));
        assertEquals(List.of(), warnings);
    }

    @Test
    void aFullBlockIsWrittenAtOnce() throws IOException {
        AccessLogWriter writer = writer(config());
        AccessLogRing ring = writer.newRing();
        Random random = new Random(1);
        byte[] noise = new byte[4000];
        for (int i = 0; i < 20; i++) {
            random.nextBytes(noise);
            offer(ring, entry -> entry.text(LogField.URL, noise, 0, noise.length));
        }
        assertTrue(writer.writeOnce());
        assertEquals(20, writer.written());
        writer.finish();
    }

    @Test
    void eachRotatedFileCanBeReadAlone() throws IOException {
        AccessLogWriter writer = writer(config().withRotation(1, Duration.ZERO, 0));
        AccessLogRing ring = writer.newRing();
        for (int i = 0; i < 3; i++) {
            offer(ring, i);
            writer.writeOnce();
            clock.addAndGet(AccessLogWriter.BLOCK_MILLIS);
            assertTrue(writer.writeOnce());
        }
        writer.finish();
        List<Path> files;
        try (Stream<Path> all = Files.list(directory)) {
            files = all.sorted().toList();
        }
        assertEquals(3, files.size());
        // The log itself has the shortest name, and the newest rows.
        assertEquals(List.of("2"), numbers(files.get(0)));
        assertEquals(List.of("0"), numbers(files.get(1)));
        assertEquals(List.of("1"), numbers(files.get(2)));
        assertEquals(List.of(), warnings);
    }

    @Test
    void aFileThatWasMovedAwayIsContinuedUnderItsName() throws IOException {
        AccessLogWriter writer = writer(config());
        AccessLogRing ring = writer.newRing();
        offer(ring, 1);
        writer.writeOnce();
        clock.addAndGet(AccessLogWriter.BLOCK_MILLIS);
        writer.writeOnce();
        Path moved = Files.move(file(), directory.resolve("moved"));
        offer(ring, 2);
        writer.requestReopen();
        writer.writeOnce();
        clock.addAndGet(AccessLogWriter.BLOCK_MILLIS);
        writer.writeOnce();
        writer.finish();
        assertEquals(List.of("1"), numbers(moved));
        assertEquals(List.of("2"), numbers(file()));
        assertEquals(List.of(), warnings);
    }

    @Test
    void aWriterContinuesAfterTheCutBlockOfAKilledProcess() throws IOException {
        AccessLogWriter killed = writer(config());
        AccessLogRing ring = killed.newRing();
        offer(ring, 1);
        killed.finish();
        long intact = Files.size(file());
        killed = writer(config());
        offer(killed.newRing(), 2);
        killed.finish();
        try (RandomAccessFile cut = new RandomAccessFile(file().toFile(), "rw")) {
            cut.setLength(cut.length() - 5);
        }
        AccessLogWriter next = writer(config());
        offer(next.newRing(), 3);
        next.finish();
        assertEquals(List.of("1", "3"), numbers(file()));
        assertEquals(1, warnings.size(), warnings::toString);
        // The schema before the cut block is intact, so the damage begins after it.
        long damage = intact + AccessLogFormat.BINARY.schema().block().length;
        assertTrue(warnings.get(0).startsWith("file: at byte " + damage + ": "), warnings::toString);
    }

    @Test
    void aReaderFollowsAGrowingFileAcrossRotations() throws IOException {
        AccessLogWriter writer = writer(config().withRotation(1, Duration.ZERO, 0));
        AccessLogRing ring = writer.newRing();
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        LinePrinter printer = printer(printed);
        try (BinaryLogFile log = new BinaryLogFile(file(), printer)) {
            assertTrue(log.poll(), "the file does not exist yet");
            for (int i = 0; i < 20; i++) {
                offer(ring, i);
                writer.writeOnce();
                clock.addAndGet(AccessLogWriter.BLOCK_MILLIS);
                assertTrue(writer.writeOnce());
                assertTrue(log.poll());
            }
            printer.flush();
            assertEquals(20, printed.toString(StandardCharsets.US_ASCII).lines().count());
            writer.finish();
            log.finish();
        }
        assertFalse(printer.hasDamage(), warnings::toString);
    }

    @Test
    void aReaderNeverSeesPartOfABlockWhileItIsWritten() throws IOException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<Consumer<AccessLogRecord>> records = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            records.add(BinaryLogSample.random(seed + i));
        }
        byte[] whole = BinaryLogSample.file(AccessLogFormat.BINARY, records.subList(0, 20));
        byte[] more = BinaryLogSample.file(AccessLogFormat.BINARY, records.subList(20, 40));
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        LinePrinter printer = printer(printed);
        try (BinaryLogFile log = new BinaryLogFile(file(), printer);
                RandomAccessFile growing = new RandomAccessFile(file().toFile(), "rw")) {
            for (byte[] bytes : List.of(whole, more)) {
                int at = 0;
                while (at < bytes.length) {
                    int part = Math.min(bytes.length - at, 1 + random.nextInt(700));
                    growing.write(bytes, at, part);
                    at += part;
                    assertTrue(log.poll());
                }
            }
            assertFalse(log.isIncomplete());
            log.finish();
        }
        printer.flush();
        assertFalse(printer.hasDamage(), () -> "seed " + seed + ": " + warnings);
        assertEquals(
                String.join("", BinaryLogSample.lines(AccessLogFormat.SQUID, List.of(), records)),
                printed.toString(StandardCharsets.ISO_8859_1),
                () -> "seed " + seed);
    }

    private LinePrinter printer(ByteArrayOutputStream printed) {
        return new LinePrinter(
                AccessLogFormat.SQUID,
                null,
                new PrintStream(printed, false, StandardCharsets.ISO_8859_1),
                warnings::add);
    }

    @Test
    void aBlockThatWasWrittenInPartIsContinuedBeforeTheNextSchema() throws IOException {
        byte[] blocks = BinaryLogSample.batches(AccessLogFormat.BINARY, List.of(LogRecords::fillHit))
                .get(0);
        int schemaBytes = AccessLogFormat.BINARY.schema().block().length;
        int wholeBytes = schemaBytes + blocks.length;
        for (int room = 0; room <= wholeBytes; room++) {
            FullDisk disk = new FullDisk(room);
            SchemaWriter schemas = new SchemaWriter(AccessLogFormat.BINARY.schema());
            ByteBuffer unwritten = ByteBuffer.wrap(blocks);
            schemas.opened(true);
            try {
                write(schemas, disk, unwritten);
            } catch (IOException e) {
                disk.room = Integer.MAX_VALUE;
                schemas.opened(false);
                write(schemas, disk, unwritten);
            }
            int at = room;
            assertEquals(
                    BinaryLogSample.lines(AccessLogFormat.JSON, List.of(), List.of(LogRecords::fillHit)),
                    BinaryLogSample.printed(AccessLogFormat.JSON, disk.content.toByteArray(), warnings),
                    () -> "failure at byte " + at);
        }
        assertEquals(List.of(), warnings);
    }

    @Test
    void theSchemaIsRepeated() throws IOException {
        byte[] blocks = BinaryLogSample.batches(AccessLogFormat.BINARY, List.of(LogRecords::fillHit))
                .get(0);
        FullDisk disk = new FullDisk(Integer.MAX_VALUE);
        SchemaWriter schemas = new SchemaWriter(AccessLogFormat.BINARY.schema());
        schemas.opened(true);
        int rows = 0;
        while (disk.content.size() < 3 << 20) {
            write(schemas, disk, ByteBuffer.wrap(blocks));
            rows++;
        }
        byte[] damaged = disk.content.toByteArray();
        damaged[0] ^= 1;
        int printed = BinaryLogSample.printed(AccessLogFormat.SQUID, damaged, warnings)
                .size();
        assertTrue(printed < rows && printed > rows / 2, printed + " of " + rows);
    }

    private static void write(SchemaWriter schemas, FullDisk disk, ByteBuffer blocks) throws IOException {
        while (blocks.hasRemaining()) {
            schemas.write(disk, blocks);
        }
    }

    @Test
    void rowsOfIncompleteBlocksCountAsDropped() {
        TearingTarget target = new TearingTarget();
        AccessLogWriter writer = new AccessLogWriter(config(), target, faults, clock::get);
        AccessLogRing ring = writer.newRing();
        offer(ring, 1);
        offer(ring, 2);
        target.room = 50;
        writer.finish();
        assertEquals(0, writer.written());
        assertEquals(2, writer.dropped());
    }

    /** A file that accepts a number of bytes. */
    private static final class FullDisk implements WritableByteChannel {
        final ByteArrayOutputStream content = new ByteArrayOutputStream();
        int room;

        FullDisk(int room) {
            this.room = room;
        }

        @Override
        public int write(ByteBuffer source) throws IOException {
            if (room == 0) {
                throw new IOException("full");
            }
            int count = Math.min(room, source.remaining());
            byte[] bytes = new byte[count];
            source.get(bytes);
            content.writeBytes(bytes);
            room -= count;
            return count;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // nothing is open
        }
    }

    /** Accepts as many bytes as it has space for, then fails. */
    private static final class TearingTarget implements LogTarget {
        int room;

        @Override
        public String description() {
            return "a tearing disk";
        }

        @Override
        public void maintain(long nowMillis) {
            // always open
        }

        @Override
        public boolean isAtStart() {
            return false;
        }

        @Override
        public void write(ByteBuffer blocks) throws IOException {
            if (room == 0) {
                throw new IOException("full");
            }
            int count = Math.min(room, blocks.remaining());
            blocks.position(blocks.position() + count);
            room -= count;
        }

        @Override
        public void close() {
            // nothing is open
        }
    }
}
