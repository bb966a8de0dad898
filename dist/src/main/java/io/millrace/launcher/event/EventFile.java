package io.millrace.launcher.event;

import io.millrace.launcher.state.StateDirectory;
import io.millrace.proxy.admin.history.EventSource.Numbered;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The file of events, one line of JSON for each. If an append would make the number of lines more than twice the number
 * of kept events, a new file with only the kept events replaces the file. The file is also replaced after a failed
 * append, which may have left a part of a line. Confined to one thread at a time; blocks.
 */
final class EventFile {
    /** Limit of a line in bytes; longer lines are skipped. An event has 1,280 characters at most. */
    private static final int LINE_LENGTH_MAX = 16 << 10;

    private final Path file;
    private final int eventsMax;
    private final int bytesMax;
    private final Appender appender;
    private int lineCount;
    private boolean endsWithLineFeed = true;
    /** Whether the file has to be replaced before the next append: its content is unknown or too long. */
    private boolean mustReplace;

    /** Opens a file at its end, and creates it if it does not exist. */
    @FunctionalInterface
    interface Appender {
        OutputStream open(Path file) throws IOException;
    }

    /**
     * Creates the access to a file, which need not exist.
     *
     * @param eventsMax number of events that are kept
     * @param bytesMax limit of the bytes that are read, from the end of the file
     */
    EventFile(Path file, int eventsMax, int bytesMax, Appender appender) {
        this.file = file;
        this.eventsMax = eventsMax;
        this.bytesMax = bytesMax;
        this.appender = appender;
    }

    /** The appender for use outside of tests. */
    static OutputStream open(Path file) throws IOException {
        return Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /**
     * Returns the events of the file, oldest first. Skips damaged lines, such as one that a crash cut off. Reads only
     * the end of a file that is longer than the limit; the next append then shortens the file.
     */
    List<Numbered> read() throws IOException {
        List<Numbered> events = new ArrayList<>();
        try (SeekableByteChannel channel = Files.newByteChannel(file);
                InputStream in = Channels.newInputStream(channel)) {
            long excess = Math.max(0, channel.size() - bytesMax);
            channel.position(excess);
            String all = new String(in.readNBytes(bytesMax), StandardCharsets.ISO_8859_1);
            mustReplace = excess > 0;
            endsWithLineFeed = all.isEmpty() || all.endsWith("\n");
            // The text may begin in the middle of a line. This part of a line does not parse and is skipped.
            for (String line : all.split("\n", -1)) {
                if (!line.isEmpty()) {
                    lineCount++;
                    Numbered event = line.length() > LINE_LENGTH_MAX ? null : EventLine.parse(utf8(line));
                    if (event != null) {
                        events.add(event);
                    }
                }
            }
        } catch (NoSuchFileException e) {
            return List.of();
        }
        return events;
    }

    private static String utf8(String bytes) {
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /**
     * Appends events. After a failure, the file may contain some of the events; the next call replaces the whole file.
     *
     * @param latest the events that are kept, with the new ones at the end; used to replace the file
     */
    void append(List<Numbered> added, List<Numbered> latest) throws IOException {
        if (mustReplace || lineCount + added.size() > 2 * eventsMax) {
            replace(latest);
            return;
        }
        boolean isNew = !Files.exists(file);
        ByteArrayOutputStream batch = new ByteArrayOutputStream();
        if (!endsWithLineFeed && !isNew) {
            batch.write('\n');
        }
        for (Numbered event : added) {
            batch.writeBytes(EventLine.of(event));
        }
        mustReplace = true;
        try (OutputStream out = appender.open(file)) {
            batch.writeTo(out);
        }
        if (isNew) {
            StateDirectory.restrict(file);
            lineCount = 0;
        }
        mustReplace = false;
        lineCount += added.size();
        endsWithLineFeed = true;
    }

    /** Writes another file and renames it, so that the file is complete at every time, even after a failure. */
    private void replace(List<Numbered> latest) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        try {
            try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(fresh))) {
                for (Numbered event : latest) {
                    out.write(EventLine.of(event));
                }
            }
            StateDirectory.restrict(fresh);
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            deleteAfter(e, fresh);
            throw e;
        }
        lineCount = latest.size();
        endsWithLineFeed = true;
        mustReplace = false;
    }

    /** Deletes a file that could not be completed, since it may fill the disk. */
    private static void deleteAfter(IOException failure, Path fresh) {
        try {
            Files.deleteIfExists(fresh);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
