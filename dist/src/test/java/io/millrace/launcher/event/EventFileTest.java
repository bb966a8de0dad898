package io.millrace.launcher.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.history.EventSource.Numbered;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventFileTest {
    private static final int EVENTS_MAX = 10;
    private static final int BYTES_MAX = 4000;

    @TempDir
    private Path directory;

    /** Bytes that the disk still accepts. */
    private int space = Integer.MAX_VALUE;

    private Path path() {
        return directory.resolve("events.jsonl");
    }

    private EventFile file() {
        return new EventFile(path(), EVENTS_MAX, BYTES_MAX, file -> new SmallDisk(EventFile.open(file)));
    }

    private static Numbered event(long number) {
        return new Numbered(number, new Event(number, EventKind.PURGE, "subject", "text"));
    }

    private static List<Numbered> events(long first, long last) {
        List<Numbered> events = new ArrayList<>();
        for (long number = first; number <= last; number++) {
            events.add(event(number));
        }
        return events;
    }

    /** A disk that becomes full within a write, after a part of it. */
    private final class SmallDisk extends FilterOutputStream {
        SmallDisk(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            int accepted = Math.min(length, space);
            out.write(bytes, from, accepted);
            space -= accepted;
            if (accepted < length) {
                throw new IOException("No space left on device");
            }
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }
    }

    @Test
    void afterAFullDiskTheFileHasEachEventOnce() throws IOException {
        EventFile file = file();
        file.append(events(1, 1), events(1, 1));
        space = EventLine.of(event(2)).length + 20;
        assertThrows(IOException.class, () -> file.append(events(2, 4), events(1, 4)));
        space = Integer.MAX_VALUE;
        file.append(events(2, 5), events(1, 5));
        file.append(events(6, 6), events(1, 6));
        assertEquals(6, Files.readAllLines(path()).size());
        assertEquals(events(1, 6), file().read());
    }

    @Test
    void replacementThatFailsIsDeletedAndRepeated() throws IOException {
        EventFile file = file();
        space = 20;
        assertThrows(IOException.class, () -> file.append(events(1, 2), events(1, 2)));
        Files.delete(path());
        Files.createDirectory(path());
        assertThrows(IOException.class, () -> file.append(events(1, 3), events(1, 3)));
        assertFalse(Files.exists(directory.resolve("events.jsonl.new")));
        Files.delete(path());
        file.append(events(1, 4), events(1, 4));
        assertEquals(events(1, 4), file().read());
    }

    @Test
    void onlyTheEndOfAHugeFileIsReadAndItBecomesShort() throws IOException {
        try (OutputStream out = Files.newOutputStream(path())) {
            for (Numbered event : events(1, 1000)) {
                out.write(EventLine.of(event));
            }
        }
        EventFile file = file();
        List<Numbered> read = file.read();
        assertEquals(events(read.get(0).number(), 1000), read);
        assertTrue(read.size() < BYTES_MAX / 100, "read: " + read.size());
        file.append(events(1001, 1001), events(992, 1001));
        assertEquals(EVENTS_MAX, Files.readAllLines(path()).size());
        assertEquals(events(992, 1001), file().read());
    }
}
