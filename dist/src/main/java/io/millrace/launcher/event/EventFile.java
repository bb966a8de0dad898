package io.millrace.launcher.event;

import io.millrace.launcher.state.StateDirectory;
import io.millrace.proxy.admin.history.EventSource.Numbered;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The file of events, one line of JSON for each. It is replaced by the latest events when it has twice as many lines as
 * are kept. Confined to one thread at a time; blocks.
 */
final class EventFile {
    private static final int LINE_LENGTH_MAX = 16 << 10;

    private final Path file;
    private final int eventsMax;
    private int lines;
    private boolean endsInLine = true;

    /** @param eventsMax number of events that are kept at least */
    EventFile(Path file, int eventsMax) {
        this.file = file;
        this.eventsMax = eventsMax;
    }

    /** Returns the latest events, oldest first. Skips damaged lines, such as one that a crash cut off. */
    List<Numbered> read() throws IOException {
        List<Numbered> events = new ArrayList<>();
        try {
            String all = Files.readString(file, StandardCharsets.ISO_8859_1);
            endsInLine = all.isEmpty() || all.endsWith("\n");
            for (String line : all.split("\n", -1)) {
                if (!line.isEmpty() && line.length() <= LINE_LENGTH_MAX) {
                    lines++;
                    Numbered event = EventLine.parse(
                            new String(line.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
                    if (event != null) {
                        events.add(event);
                    }
                }
            }
        } catch (NoSuchFileException e) {
            return List.of();
        }
        return List.copyOf(events.subList(Math.max(0, events.size() - eventsMax), events.size()));
    }

    /**
     * Appends events.
     *
     * @param latest the events that are kept, with the new ones at the end; used if the file has become too long
     */
    void append(List<Numbered> added, List<Numbered> latest) throws IOException {
        if (lines + added.size() > 2 * eventsMax) {
            replace(latest);
            return;
        }
        boolean isNew = !Files.exists(file);
        try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            if (!endsInLine) {
                out.write('\n');
                endsInLine = true;
            }
            for (Numbered event : added) {
                out.write(EventLine.of(event));
            }
        }
        if (isNew) {
            StateDirectory.restrict(file);
            lines = 0;
        }
        lines += added.size();
    }

    private void replace(List<Numbered> latest) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        try (OutputStream out = Files.newOutputStream(fresh)) {
            for (Numbered event : latest) {
                out.write(EventLine.of(event));
            }
        }
        StateDirectory.restrict(fresh);
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        lines = latest.size();
        endsInLine = true;
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
