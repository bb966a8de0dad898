package io.millrace.proxy.observe.log.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.BinaryLogSample;
import io.millrace.proxy.observe.log.block.BlockReader;
import io.millrace.proxy.observe.log.block.BlockSchema;
import io.millrace.proxy.observe.log.block.Row;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a reader of a log that is rotated gets each record once. */
class BinaryLogFileTest {
    @TempDir
    Path directory;

    private final AtomicInteger rows = new AtomicInteger();
    private final List<String> damages = new ArrayList<>();
    private final BlockReader.Visitor visitor = new BlockReader.Visitor() {
        @Override
        public void schema(BlockSchema schema) {}

        @Override
        public boolean row(Row row) {
            rows.incrementAndGet();
            return true;
        }

        @Override
        public void damaged(long offset, String reason) {
            damages.add(offset + ": " + reason);
        }
    };

    private static byte[] records(int number) {
        List<Consumer<AccessLogRecord>> records = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            records.add(BinaryLogSample.random(i));
        }
        return BinaryLogSample.file(AccessLogFormat.BINARY, records);
    }

    private void assertRows(int expected, BinaryLogFile log) throws IOException {
        assertTrue(log.poll());
        assertEquals(expected, rows.get());
    }

    @Test
    void aFileThatIsCopiedAndEmptiedIsReadOnce() throws IOException {
        Path file = directory.resolve("access.blog");
        Files.write(file, records(20));
        try (BinaryLogFile log = new BinaryLogFile(file, visitor)) {
            assertRows(20, log);
            Files.write(file, new byte[0], StandardOpenOption.TRUNCATE_EXISTING);
            assertRows(20, log);
            Files.write(file, records(3), StandardOpenOption.APPEND);
            assertRows(23, log);
            Files.write(file, records(40), StandardOpenOption.APPEND);
            assertRows(63, log);
            assertRows(63, log);
            log.finish();
        }
        assertEquals(63, rows.get());
        assertEquals(List.of(), damages);
    }

    @Test
    void aFileThatIsReplacedWhileItIsOpenedIsReadOnce() throws IOException {
        Path file = directory.resolve("access.blog");
        Files.write(file, records(2));
        AtomicInteger opened = new AtomicInteger();
        BinaryLogFile.Opener replacing = named -> {
            if (opened.incrementAndGet() == 1) {
                Files.move(named, directory.resolve("access.blog.1"));
                Files.write(named, records(5));
            }
            return FileChannel.open(named, StandardOpenOption.READ);
        };
        try (BinaryLogFile log = new BinaryLogFile(file, visitor, replacing)) {
            assertRows(5, log);
            assertRows(5, log);
            log.finish();
        }
        assertEquals(5, rows.get());
        assertEquals(2, opened.get());
        assertEquals(List.of(), damages);
    }
}
