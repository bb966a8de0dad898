package io.millrace.worker.traces;

import io.millrace.proxy.observe.FaultLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The fields of requests to the collector, from a file with one {@code Name: value} in a line. Empty lines and lines
 * that begin with # are ignored. The file is read again when its time or size has changed; if that fails, the last
 * valid fields stay in use. Thread-safe. Error messages never contain the value of a field: values that are
 * not allowed in HTTP are refused here, with their position.
 */
final class HeadersFile implements Supplier<Map<String, String>> {
    private static final int BYTES_MAX = 64 << 10;
    private static final String NAME_CHARACTERS = "!#$%&'*+-.^_`|~";
    /** Names of the fields that the product sets, in lower case. */
    private static final Set<String> RESERVED = Set.of(
            "connection",
            "content-encoding",
            "content-length",
            "content-type",
            "expect",
            "host",
            "transfer-encoding",
            "upgrade");

    private final Path file;
    private final FaultLog faults;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable FileTime readTime;
    private long readBytes = -1;
    private Map<String, String> fields = Map.of();

    private HeadersFile(Path file, FaultLog faults) {
        this.file = file;
        this.faults = faults;
    }

    /**
     * Reads the file for the first time.
     *
     * @throws IOException if it cannot be read or is invalid; the message names file and line
     */
    static HeadersFile open(Path file, FaultLog faults) throws IOException {
        HeadersFile opened = new HeadersFile(file, faults);
        opened.refresh();
        return opened;
    }

    @Override
    public Map<String, String> get() {
        lock.lock();
        try {
            refresh();
            return fields;
        } catch (IOException e) {
            faults.report("the headers file of traces cannot be used; the previous fields stay in use", e);
            return fields;
        } finally {
            lock.unlock();
        }
    }

    /** Reads the file if it has changed. Called with the lock, or before the object is shared. */
    private void refresh() throws IOException {
        FileTime time = Files.getLastModifiedTime(file);
        long bytes = Files.size(file);
        if (time.equals(readTime) && bytes == readBytes) {
            return;
        }
        // Time and size are recorded before the file is parsed, so that an invalid file is reported once and not for
        // each request.
        readTime = time;
        readBytes = bytes;
        if (bytes > BYTES_MAX) {
            throw new IOException(file + " has " + bytes + " bytes; the limit is " + BYTES_MAX + " bytes");
        }
        fields = parse(Files.readString(file, StandardCharsets.UTF_8));
    }

    private Map<String, String> parse(String text) throws IOException {
        Map<String, String> found = new LinkedHashMap<>();
        Map<String, Integer> lines = new HashMap<>();
        int number = 0;
        for (String line : text.split("\n", -1)) {
            number++;
            String content = line.strip();
            if (content.isEmpty() || content.startsWith("#")) {
                continue;
            }
            int colon = content.indexOf(':');
            String name = colon < 0 ? "" : content.substring(0, colon).strip();
            if (name.isEmpty() || !name.chars().allMatch(HeadersFile::isNameCharacter)) {
                throw new IOException(file + ":" + number + ": the line does not have the format 'Name: value'");
            }
            if (RESERVED.contains(name.toLowerCase(Locale.ROOT))) {
                throw new IOException(
                        file + ":" + number + ": Millrace sets the field " + name + " itself; remove the line");
            }
            Integer earlier = lines.putIfAbsent(name.toLowerCase(Locale.ROOT), number);
            if (earlier != null) {
                throw new IOException(file + ":" + number + ": the field " + name + " is already set in line " + earlier
                        + "; remove one of the lines, names that differ only in case are equal");
            }
            String value = content.substring(colon + 1).strip();
            int invalid = invalidCharacter(value);
            if (invalid >= 0) {
                int column = line.indexOf(value, line.indexOf(':') + 1) + invalid + 1;
                throw new IOException(file + ":" + number + ": the character in column " + column
                        + " is not allowed; a value has visible ASCII characters, spaces and tabs");
            }
            found.put(name, value);
        }
        return Map.copyOf(found);
    }

    /** Returns the index of the first character that is not visible ASCII, a space or a tab; -1 if there is none. */
    private static int invalidCharacter(String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if ((c < ' ' || c > '~') && c != '\t') {
                return i;
            }
        }
        return -1;
    }

    private static boolean isNameCharacter(int c) {
        return (c >= '0' && c <= '9')
                || (c >= 'A' && c <= 'Z')
                || (c >= 'a' && c <= 'z')
                || NAME_CHARACTERS.indexOf(c) >= 0;
    }
}
